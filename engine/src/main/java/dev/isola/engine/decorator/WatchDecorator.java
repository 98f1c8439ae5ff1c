package dev.isola.engine.decorator;

import dev.isola.spi.file.FileChange;
import dev.isola.spi.file.Watch;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** A watch of files. */
record WatchDecorator(Watch inner, ProviderGuard guard) implements Watch {
  @Override
  public Optional<FileChange> next(Duration timeout) {
    return guard.direct("next", () -> inner.next(timeout));
  }

  @Override
  public List<FileChange> drain(int max) {
    return guard.direct("drain", () -> inner.drain(max));
  }

  @Override
  public boolean ended() {
    return guard.direct("ended", inner::ended);
  }

  @Override
  public void close() {
    guard.runDirect("close", inner::close);
  }
}
