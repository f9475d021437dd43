"""The image functions against Octave and scikit-image on images never seen before.

    python3 check_image.py TEST_IMAGE        the program built from tests/image/test_image.cpp
"""

import os
import pathlib
import subprocess
import sys
import tempfile

MAKE = pathlib.Path(__file__).parent.parent / "fixtures/image/make_image.py"

for seed in ("11", "12"):
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, MAKE, folder, seed], check=True)
        environment = os.environ | {"CGMCA_IMAGE_FIXTURES": folder}
        command = [sys.argv[1], "--gtest_filter=*OctaveAndScikitImage*", "--gtest_brief=1"]
        subprocess.run(command, env=environment, check=True)
print("wiener2, medfilt2, mat2gray agree with Octave, ssim and psnr with scikit-image")
