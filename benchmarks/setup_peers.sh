#!/usr/bin/env bash
# The environments of the libraries that summarykit is compared with, in .envs (or $SUMMARYKIT_ENVS):
#   bash benchmarks/setup_peers.sh [python3.11]
# Three of them, because MindSpore and the others pin what they share. About 2.5 GB on a fresh machine.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
python=${1:-python3.11}
envs=${SUMMARYKIT_ENVS:-.envs}

environment() {
    local folder=$envs/$1
    shift
    [ -x "$folder/bin/python" ] || "$python" -m venv "$folder"
    "$folder/bin/python" -m pip install --quiet "$@"
}

# crc32c: tensorboardX uses it where it is there, and is slower without.
environment peers torch==2.13.0 tensorboardX tensorboard tensorboard-data-server tbparse crc32c viztracer pyinstrument psutil
# Frameworks that have loggers of their own.
environment peers torch==2.13.0 lightning transformers accelerate
# It asks for older versions of what is there, which it does not need.
"$envs/peers/bin/python" -m pip install --quiet --no-deps loss-landscapes
# Its wheel is built for NumPy 1; with NumPy 2 some first calls raise SystemError, and its own landscapes fail.
environment mindspore mindspore==2.10.0 'numpy<2' crc32c psutil protobuf scikit-learn
# Pandas 3 refuses what it does.
environment hta HolisticTraceAnalysis==0.5.0 'pandas<3'

"$envs/peers/bin/python" -c 'import torch.utils.tensorboard, tensorboardX, tbparse, tensorboard_data_server, crc32c'
"$envs/mindspore/bin/python" -c 'from mindspore.train.summary import SummaryRecord'
"$envs/hta/bin/python" -c 'from hta.trace_analysis import TraceAnalysis'
echo "ready: $(cd "$envs" && pwd)/peers, $(cd "$envs" && pwd)/mindspore, $(cd "$envs" && pwd)/hta"
