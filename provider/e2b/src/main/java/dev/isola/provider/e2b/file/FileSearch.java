package dev.isola.provider.e2b.file;

import dev.isola.provider.e2b.exec.SandboxContext;
import dev.isola.provider.e2b.exec.ScriptRunner;
import dev.isola.spi.file.FileInfo;
import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.Queue;
import java.util.Spliterator;
import java.util.Spliterators;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/** Streams the results of a search script. */
record FileSearch(ScriptRunner shell, SandboxContext context, FileErrors errors) {

  Stream<FileInfo> stream(String what, String path, String script, List<String> args) {
    ScriptRunner.RunningScript following =
        shell.start(script, context.user(), args, Optional.empty());
    ResultIterator found = new ResultIterator(following, what, path);
    try {
      found.fill();
    } catch (RuntimeException e) {
      following.close();
      throw e;
    }
    return StreamSupport.stream(
            Spliterators.spliteratorUnknownSize(found, Spliterator.ORDERED | Spliterator.NONNULL),
            false)
        .onClose(following::close);
  }

  private final class ResultIterator implements Iterator<FileInfo> {
    private final ScriptRunner.RunningScript following;
    private final String what;
    private final String path;
    private final FindOutputParser listing = new FindOutputParser();
    private final Queue<FileInfo> ready = new ArrayDeque<>();
    private boolean ended;

    ResultIterator(ScriptRunner.RunningScript following, String what, String path) {
      this.following = following;
      this.what = what;
      this.path = path;
    }

    @Override
    public boolean hasNext() {
      fill();
      return !ready.isEmpty();
    }

    /** Waits for the next result, or for the end and its status. */
    void fill() {
      while (ready.isEmpty() && !ended) {
        Optional<byte[]> piece = following.next();
        piece.ifPresent(bytes -> ready.addAll(listing.parse(bytes)));
        if (piece.isEmpty()) {
          ended = true;
          following.close();
          if (!following.result().succeeded()) {
            throw errors.of(what, path, following.result());
          }
        }
      }
    }

    @Override
    public FileInfo next() {
      if (!hasNext()) {
        throw new NoSuchElementException();
      }
      return ready.remove();
    }
  }
}
