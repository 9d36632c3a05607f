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
from summarykit.writing.resumption import alone
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
        files = self._make() if self._segment or self._options.resume is None else self._begin()
        self._segment += 1
        return files

    def wait_for_tails(self) -> None:
        """Let torn tails of earlier runs be cut to the last, for a while: what is left uncut hides this run from the viewers."""
        if self._tails is not None:
            self._tails.join(TAIL_SECS)

    def _begin(self) -> list[RecordFile]:
        """The first files of a run that is continued; until they tell what they are, others wait."""
        with alone(self._options.directory):
            files = self._make()
            with suppress(OSError):    # what cannot be written now stays in hand
                for file in files:
                    file.push()
        return files

    def _make(self) -> list[RecordFile]:
        wall_time, files = time.time(), list[RecordFile]()
        while not files:
            names = self._names_there()
            stem = Stem(next_stamp(wall_time, names), self._options.rank, self._process.host, self._process.pid, self._counter)
            files = self._create(stem)
            if not files:
                self._counter = next(_counter)    # where the stamp can rise no more, this makes the next name another one
        if not self._segment and self._options.resume is not None:
            self._begins = self._options.resume.begins(self._options.directory, names)
        for file, layout in zip(files, self._formats, strict=True):
            file.add(chunk([[framing.frame(payload)] for payload in layout.opening(self.origin(), wall_time)]))
        if not self._segment and any(map(parse, names)):
            self._cut_torn_tails(names)
        return files

    def _names_there(self) -> list[str]:
        """What is in the directory; made anew where somebody has removed it."""
        directory = self._options.directory
        try:
            return os.listdir(directory)
        except FileNotFoundError:
            os.makedirs(directory, exist_ok=True)
            return []

    def _create(self, stem: Stem) -> list[RecordFile]:
        """The files of one stem, or none where another process was quicker."""
        made: list[RecordFile] = []
        try:
            for layout in self._formats:
                name = layout.file_name(self._options.prefix, stem, self._options.suffix)
                made += [RecordFile(os.path.join(self._options.directory, name))]
        except OSError as error:
            for file in made:
                file.close()
                os.unlink(file.path)
            if not isinstance(error, FileExistsError):
                raise
            return []
        return made

    def _cut_torn_tails(self, names: list[str]) -> None:
        """Beside the pump; at the end of the process, where no thread can be started any more, in it."""
        cutting = threading.Thread(target=cut_torn_tails, args=(self._options.directory, names), name="summarykit-tails", daemon=True)
        try:
            cutting.start()
        except RuntimeError:
            cut_torn_tails(self._options.directory, names)
        else:
            self._tails = cutting
