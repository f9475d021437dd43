"""Denoise samples with Spark: python3 examples/engine_spark.py. On a cluster each machine needs cgmca."""
import numpy as np
import pandas
from pyspark.sql import SparkSession
import cgmca
import cgmca.spark

random = np.random.default_rng(0)
clean = random.normal(size=(20_000, 5)) @ random.normal(size=(5, 40))
noisy = clean + random.normal(size=clean.shape)
pandas.DataFrame({"clean": list(clean), "noisy": list(noisy)}).to_parquet("pairs.parquet")
pairs = SparkSession.builder.master("local[2]").getOrCreate().read.parquet("pairs.parquet")
model = cgmca.spark.fit(cgmca.MCA(n_components=5), pairs, "clean", "noisy")
cgmca.spark.translate(model, pairs, "noisy", to="cleaned").write.mode("overwrite").parquet("cleaned.parquet")
print(f"{model.n_samples_} pairs; canonical correlations {model.canonical_correlations_.round(2)}")
