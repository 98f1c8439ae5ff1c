package dev.isola.provider.e2b.file;

import dev.isola.provider.e2b.exec.Inside;
import dev.isola.provider.e2b.exec.Shell;
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

/** Files that a script inside finds, told as it finds them. */
record Finding(Shell shell, Inside inside, Errors errors) {

  Stream<FileInfo> stream(String what, String path, String script, List<String> args) {
    Shell.Following following = shell.follow(script, inside.user(), args, Optional.empty());
    Found found = new Found(following, what, path);
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

  private final class Found implements Iterator<FileInfo> {
    private final Shell.Following following;
    private final String what;
    private final String path;
    private final Listing listing = new Listing();
    private final Queue<FileInfo> ready = new ArrayDeque<>();
    private boolean ended;

    Found(Shell.Following following, String what, String path) {
      this.following = following;
      this.what = what;
      this.path = path;
    }

    @Override
    public boolean hasNext() {
      fill();
      return !ready.isEmpty();
    }

    /** Waits for the next file, or for the end and its reason. */
    void fill() {
      while (ready.isEmpty() && !ended) {
        Optional<byte[]> piece = following.next();
        piece.ifPresent(bytes -> ready.addAll(listing.take(bytes)));
        if (piece.isEmpty()) {
          ended = true;
          following.close();
          if (!following.said().good()) {
            throw errors.of(what, path, following.said());
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
