"""SummaryWriter's methods for everything that is looked at or listened to."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from summarykit.summary.direct import DirectRecorder


class MediaCalls(DirectRecorder):
    """Images, figures, video, audio, meshes, curves, embeddings, graphs: one method a kind.

    In all of them ``tag`` is the name, ``global_step`` the number of optimizer updates completed (None: 0) and ``walltime`` the time in
    seconds since the epoch (None: now). Values may change afterwards: they are frozen here. What cannot be recorded is dropped, counted
    in ``stats()`` and told once.
    """

    def add_image(
        self, tag: str, img_tensor: Any, global_step: int | None = None, walltime: float | None = None, dataformats: str = "CHW"
    ) -> None:
        """Record a picture.

        Args:
            tag: its name.
            img_tensor: array or tensor; uint8 as it is, floats 0 to 1 (what lies beyond is clipped, with one warning).
            global_step: see `MediaCalls`.
            walltime: see `MediaCalls`.
            dataformats: the meaning of the axes: ``"CHW"``, ``"HWC"``, ``"HW"``, any order of these letters.
        """
        self._record("image", tag, img_tensor, global_step, walltime, dataformat=dataformats)

    def add_images(
        self, tag: str, img_tensor: Any, global_step: int | None = None, walltime: float | None = None, dataformats: str | None = "NCHW"
    ) -> None:
        """Record a batch of pictures as one: a grid of up to 8 columns.

        Args:
            tag: its name.
            img_tensor: array or tensor, or a list of pictures of one size.
            global_step: see `MediaCalls`.
            walltime: see `MediaCalls`.
            dataformats: the meaning of the axes (``"NCHW"``, ``"NHWC"``, ``"NHW"`` ...); of a list those of one picture will do. None: as
                the shape tells.
        """
        if isinstance(img_tensor, (list, tuple)) and dataformats and "N" not in dataformats.upper():
            dataformats = f"N{dataformats}"
        self._record("image", tag, img_tensor, global_step, walltime, dataformat=dataformats)

    def add_image_with_boxes(
        self,
        tag: str,
        img_tensor: Any,
        box_tensor: Any,
        global_step: int | None = None,
        walltime: float | None = None,
        rescale: float | str = 1,
        dataformats: str = "CHW",
        labels: str | Sequence[object] | None = None,
    ) -> None:
        """Record a picture with boxes drawn on it.

        Args:
            tag: its name.
            img_tensor: array or tensor of one picture.
            box_tensor: shape ``[n, 4]``: left, top, right, bottom, in pixels.
            global_step: see `MediaCalls`.
            walltime: see `MediaCalls`.
            rescale: factor of the picture's size.
            dataformats: the meaning of the axes.
            labels: a text a box.
        """
        if isinstance(rescale, str):    # tensorboardX has the layout in this place, then the labels
            dataformats, labels = rescale, labels if dataformats == "CHW" else dataformats
            rescale = 1
        labels = [labels] if isinstance(labels, str) else labels
        options = {"boxes": box_tensor, "labels": labels, "dataformat": dataformats, "rescale": rescale}
        self._record("image_with_boxes", tag, img_tensor, global_step, walltime, **options)

    def add_figure(
        self, tag: str, figure: Any, global_step: int | None = None, close: bool = True, walltime: float | None = None
    ) -> None:
        """Record what matplotlib draws; it is drawn in this call.

        Args:
            tag: its name.
            figure: a figure, or a list of them.
            global_step: see `MediaCalls`.
            close: close it in pyplot.
            walltime: see `MediaCalls`.
        """
        self._record("figure", tag, figure, global_step, walltime, close=close)

    def add_video(
        self,
        tag: str,
        vid_tensor: Any,
        global_step: int | None = None,
        fps: float = 4,
        walltime: float | None = None,
        dataformats: str = "NTCHW",
        encoding: str = "apng",
    ) -> None:
        """Record a video, as an animated picture.

        Args:
            tag: its name.
            vid_tensor: array or tensor; uint8 as it is, floats 0 to 1.
            global_step: see `MediaCalls`.
            fps: frames a second.
            walltime: see `MediaCalls`.
            dataformats: the meaning of the axes: clips, time, channels, height, width.
            encoding: ``"apng"``, which the viewers show, or ``"mp4"``, which the reader gives back (see ``VideoKind``).
        """
        options = {"fps": 4 if fps is None else fps, "dataformat": dataformats, "encoding": encoding}
        self._record("video", tag, vid_tensor, global_step, walltime, **options)

    def add_audio(
        self, tag: str, snd_tensor: Any, global_step: int | None = None, sample_rate: int = 44100, walltime: float | None = None
    ) -> None:
        """Record a sound.

        Args:
            tag: its name.
            snd_tensor: samples from -1 to 1, shape ``[samples]``, or with one or two channels.
            global_step: see `MediaCalls`.
            sample_rate: samples a second.
            walltime: see `MediaCalls`.
        """
        self._record("audio", tag, snd_tensor, global_step, walltime, sample_rate=sample_rate)

    def add_mesh(
        self,
        tag: str,
        vertices: Any,
        colors: Any = None,
        faces: Any = None,
        config_dict: Mapping[str, Any] | None = None,
        global_step: int | None = None,
        walltime: float | None = None,
    ) -> None:
        """Record a mesh, or a cloud of points.

        Args:
            tag: its name.
            vertices: coordinates, shape ``[meshes, points, 3]``.
            colors: of the points, 0 to 255, the same shape.
            faces: three numbers of points a triangle, shape ``[meshes, triangles, 3]``.
            config_dict: classes and arguments of three.js for the scene.
            global_step: see `MediaCalls`.
            walltime: see `MediaCalls`.
        """
        self._record("mesh", tag, vertices, global_step, walltime, colors=colors, faces=faces, config=config_dict)

    def add_pr_curve(
        self,
        tag: str,
        labels: Any,
        predictions: Any,
        global_step: int | None = None,
        num_thresholds: int = 127,
        weights: Any = None,
        walltime: float | None = None,
    ) -> None:
        """Record precision and recall of a binary classifier.

        Args:
            tag: its name.
            labels: what is true: bool, or 0 and 1.
            predictions: probabilities, as many.
            global_step: see `MediaCalls`.
            num_thresholds: points of the curve.
            weights: of the samples, as many; None: all weigh 1.
            walltime: see `MediaCalls`.
        """
        options = {"num_thresholds": num_thresholds, "weights": weights}
        self._record("pr_curve", tag, (labels, predictions), global_step, walltime, **options)

    def add_pr_curve_raw(
        self,
        tag: str,
        true_positive_counts: Any,
        false_positive_counts: Any,
        true_negative_counts: Any,
        false_negative_counts: Any,
        precision: Any,
        recall: Any,
        global_step: int | None = None,
        num_thresholds: int = 127,
        weights: Any = None,
        walltime: float | None = None,
    ) -> None:
        """Record a curve that was computed elsewhere: six arrays, one value a threshold.

        Args:
            tag: its name.
            true_positive_counts: at each threshold.
            false_positive_counts: at each threshold.
            true_negative_counts: at each threshold.
            false_negative_counts: at each threshold.
            precision: at each threshold.
            recall: at each threshold.
            global_step: see `MediaCalls`.
            num_thresholds: accepted for the peers' sake: the arrays tell it.
            weights: accepted for the peers' sake: the counts have them in already.
            walltime: see `MediaCalls`.
        """
        counts = true_positive_counts, false_positive_counts, true_negative_counts, false_negative_counts
        self._record("pr_curve_raw", tag, (*counts, precision, recall), global_step, walltime)

    def add_embedding(
        self,
        mat: Any,
        metadata: Sequence[Any] | None = None,
        label_img: Any = None,
        global_step: int | None = None,
        tag: str = "default",
        metadata_header: Sequence[str] | None = None,
    ) -> None:
        """Record vectors for the projector.

        Args:
            mat: shape ``[vectors, components]``.
            metadata: a label a vector, or a list of labels.
            label_img: a picture a vector, shape ``[vectors, channels, height, width]``.
            global_step: see `MediaCalls`.
            tag: its name.
            metadata_header: names of the labels, where there are several.
        """
        options = {"metadata": metadata, "label_img": label_img, "metadata_header": metadata_header}
        self._record("embedding", tag, mat, global_step, None, **options)

    def add_graph(
        self, model: Any, input_to_model: Any = None, verbose: bool = False, use_strict_trace: bool = True, *, tag: str = "graph"
    ) -> None:
        """Record what a model computes. The graph of the first tag is the run's; those of other tags are shown beside it.

        Args:
            model: a ``torch.nn.Module``, or whatever else ``summarykit.kinds.graph`` reads.
            input_to_model: arguments that the model could be called with: they bring the shapes. The model is not run.
            verbose: accepted for the peers' sake: nothing is printed.
            use_strict_trace: accepted for the peers' sake: nothing is traced.
            tag: its name, such as ``"fused"`` for that of the same model after a pass.
        """
        self._record("graph", tag, model, None, None, example_input=input_to_model)

    def add_onnx_graph(self, onnx_model_file: str | os.PathLike[str] | None = None, *, prototxt: str | None = None) -> None:
        """Record the graph of an ONNX file.

        Args:
            onnx_model_file: its path.
            prototxt: the same, by the name that PyTorch has for it.
        """
        self._record("graph", "graph", prototxt if onnx_model_file is None else onnx_model_file, None, None)
