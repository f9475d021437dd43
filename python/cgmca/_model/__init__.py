"""What is done with a fitted estimator beside its own methods: files, ONNX graphs, pictures."""
