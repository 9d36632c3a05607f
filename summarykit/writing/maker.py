"""How the files of a writer come to be: their names, who is told to write them, and what is done once beside them."""

from __future__ import annotations

import itertools
import os
import threading
import time
from collections.abc import Sequence
from contextlib import suppress

import summarykit
from summarykit.clock import Process
from summarykit.formats import Format, framing
from summarykit.formats.chunk import chunk
from summarykit.formats.names import Stem, next_stamp, parse
from summarykit.formats.origin import Origin
from summarykit.writing.file import RecordFile
from summarykit.writing.options import WriterOptions
from summarykit.writing.resumption import Resumption, alone
from summarykit.writing.tails import cut_torn_tails

TAIL_SECS = 2.0
"""How long ``close()``, or the end of the process, waits for the torn tails of earlier runs to be cut."""

_counter = itertools.count()


class FileMaker:
    """Makes one file per format each time, all with one stem, and begins each with a record that tells who writes."""

    def __init__(self, options: WriterOptions, formats: Sequence[Format]) -> None:
        """Prepare for a writer with these options, in these formats; nothing is made yet."""
        self._options = options
        self._formats = formats
        self._process = Process.current()
        self._session = os.urandom(16).hex()
        self._counter = next(_counter)
        self._segment = 0
        self._begins = False    # of those who continue a run together the first
        self._earlier: list[str] = []    # files that were there before, and may have torn tails
        self._tails: threading.Thread | None = None

    def origin(self) -> Origin:
        """Who writes, as the next file will tell."""
        resume, library = self._options.resume, f"summarykit {summarykit.__version__}"
        step, name = (resume.step if resume and self._begins else None), (resume.name if resume else "")
        return Origin(self._session, self._segment, self._process, step, self._options.rank, library, name)

    def make(self) -> list[RecordFile]:
        """The next file of every format; its opening is in hand.

        Raises:
            OSError: they cannot be made.
        """
        segment, files = self._segment, list[RecordFile]()
        try:
            if segment or self._options.resume is None:
                self._make(files)
            else:
                self._begin(files, self._options.resume)
            self._segment = segment + 1
            return files
        except BaseException:    # also what is no storage error, such as a MemoryError or Ctrl-C: it is tried again
            self._segment = segment
            _remove(files)
            raise

    def cut_torn_tails(self) -> None:
        """Mend what earlier runs left, once, and only when the first values are written: to start a thread may take long.

        It is done beside the pump; at the end of the process, where no thread can be started any more, in it.
        """
        names, self._earlier = self._earlier, []
        if not names:
            return
        cutting = threading.Thread(target=cut_torn_tails, args=(self._options.directory, names), name="summarykit-tails", daemon=True)
        try:
            cutting.start()
        except RuntimeError:
            cut_torn_tails(self._options.directory, names)
        else:
            self._tails = cutting

    def wait_for_tails(self) -> None:
        """Let torn tails of earlier runs be cut to the last, for a while: what is left uncut hides this run from the viewers."""
        if self._tails is not None:
            self._tails.join(TAIL_SECS)

    def _begin(self, files: list[RecordFile], resume: Resumption) -> None:
        """The first files of a run that is continued; until they tell what they are, others wait."""
        self._names_there()    # from now on there is a directory
        with alone(self._options.directory, resume.name):
            self._make(files)
            with suppress(OSError):    # what cannot be written now stays in hand
                for file in files:
                    file.push()

    def _make(self, files: list[RecordFile]) -> None:
        wall_time = time.time()
        while not files:
            names = self._names_there()
            stem = Stem(next_stamp(wall_time, names), self._options.rank, self._process.host, self._process.pid, self._counter)
            self._create(stem, files)
        if not self._segment and self._options.resume is not None:
            self._begins = self._options.resume.begins(self._options.directory, names)
        for file, layout in zip(files, self._formats, strict=True):
            file.add(chunk([[framing.frame(payload)] for payload in layout.opening(self.origin(), wall_time)]))
        if not self._segment:
            self._earlier = names if any(map(parse, names)) else []

    def _names_there(self) -> list[str]:
        """What is in the directory; made anew where somebody has removed it."""
        directory = self._options.directory
        try:
            return os.listdir(directory)
        except FileNotFoundError:
            os.makedirs(directory, exist_ok=True)
            return []

    def _create(self, stem: Stem, files: list[RecordFile]) -> None:
        """Make the files of one stem, or none where another process was quicker."""
        try:
            for layout in self._formats:
                name = layout.file_name(self._options.prefix, stem, self._options.suffix)
                files.append(RecordFile(os.path.join(self._options.directory, name)))
        except FileExistsError:
            _remove(files)
            self._counter = next(_counter)    # where the stamp can rise no more, this makes the next name another one


def _remove(files: list[RecordFile]) -> None:
    while files:
        files.pop().remove()
