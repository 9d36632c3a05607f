"""The messages of both formats: ``.proto`` sources of our own writing and their serialised descriptors.

``descriptors.binpb`` is made from the sources, in this directory, by::

    python -m grpc_tools.protoc -I. --descriptor_set_out=descriptors.binpb *.proto
"""
