"""Denoise samples with Spark: python3 examples/engine_spark.py. A cluster does the same; its machines need cgmca too."""
from pyspark.sql import SparkSession, functions
import cgmca
import cgmca.spark

spark = SparkSession.builder.master("local[2]").getOrCreate()
signal = [f"sin(id * {j}) * {j}" for j in range(1, 6)]
clean = spark.range(100_000).selectExpr("id", f"transform(sequence(1, 20), k -> {' + '.join(f'({s}) * cos({j} * k)' for j, s in enumerate(signal))}) AS clean")
pairs = clean.withColumn("noisy", functions.expr("transform(clean, (v, k) -> v + 3 * randn())"))
model = cgmca.spark.fit(cgmca.MCA(n_components=5), pairs, "clean", "noisy")
cgmca.spark.translate(model, pairs, "noisy", to="cleaned").write.mode("overwrite").parquet("cleaned.parquet")
print(f"{model.n_samples_} pairs; correlations {model.canonical_correlations_.round(2)}; see cleaned.parquet")
