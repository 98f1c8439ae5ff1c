package dev.isola.engine.decorator;

import dev.isola.spi.Bytes;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.file.FileInfo;
import dev.isola.spi.file.FileSystem;
import dev.isola.spi.file.FileUser;
import dev.isola.spi.file.ReadRange;
import dev.isola.spi.file.TreeLimits;
import dev.isola.spi.file.TreeSummary;
import dev.isola.spi.file.WriteOptions;
import java.io.InputStream;
import java.nio.file.LinkOption;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The files of a sandbox. Content to write is passed on unwrapped, because the receiver may have a
 * faster way to copy a file than reading the stream.
 */
record FilesDecorator(FileSystem inner, ProviderGuard guard, SandboxObserver observer)
    implements FileSystem {

  @Override
  public FileSystem as(FileUser user) {
    return new FilesDecorator(guard.direct("as", () -> inner.as(user)), guard, observer);
  }

  @Override
  public InputStream read(String path, ReadRange range) {
    return reading(FileTransfer.READ, "read", () -> inner.read(path, range));
  }

  @Override
  public InputStream exportTree(String path, List<String> excludes) {
    return reading(FileTransfer.EXPORT, "exportTree", () -> inner.exportTree(path, excludes));
  }

  private InputStream reading(FileTransfer kind, String what, Supplier<InputStream> opening) {
    long begun = System.nanoTime();
    try {
      return observer.reading(kind, guard.direct(what, opening), begun);
    } catch (SandboxException e) {
      observer.transferFailed(kind, e, begun);
      throw e;
    }
  }

  @Override
  public FileInfo write(String path, InputStream content, WriteOptions options) {
    long begun = System.nanoTime();
    try (SandboxObserver.Use _ = observer.begin()) {
      FileInfo written;
      long bytes;
      if (options.append()) {
        // When appending, the resulting size is not the number of bytes written.
        MeteredInputStream counted = new MeteredInputStream(content, (_, _) -> {});
        written = guard.direct("write", () -> inner.write(path, counted, options));
        bytes = counted.bytes();
      } else {
        written = guard.direct("write", () -> inner.write(path, content, options));
        bytes = written.size();
      }
      observer.written(FileTransfer.WRITE, bytes, begun);
      return written;
    } catch (SandboxException e) {
      observer.transferFailed(FileTransfer.WRITE, e, begun);
      throw e;
    }
  }

  @Override
  public TreeSummary importTree(String path, InputStream archive, TreeLimits limits) {
    long begun = System.nanoTime();
    try (SandboxObserver.Use _ = observer.begin()) {
      TreeSummary summary =
          guard.direct("importTree", () -> inner.importTree(path, archive, limits));
      observer.written(FileTransfer.IMPORT, summary.bytes(), begun);
      return summary;
    } catch (SandboxException e) {
      observer.transferFailed(FileTransfer.IMPORT, e, begun);
      throw e;
    }
  }

  private <T> T call(String what, Supplier<? extends @Nullable T> operation) {
    try {
      return guard.direct(what, operation);
    } catch (SandboxException e) {
      observer.filesFailed(e);
      throw e;
    }
  }

  private void run(String what, Runnable operation) {
    try {
      guard.runDirect(what, operation);
    } catch (SandboxException e) {
      observer.filesFailed(e);
      throw e;
    }
  }

  @Override
  public FileInfo stat(String path, LinkOption... options) {
    return call("stat", () -> inner.stat(path, options));
  }

  /** Not reported: a missing file is not an error here. */
  @Override
  public boolean exists(String path) {
    return guard.direct("exists", () -> inner.exists(path));
  }

  @Override
  public Stream<FileInfo> list(String path, int depth) {
    return call("list", () -> inner.list(path, depth));
  }

  @Override
  public Stream<FileInfo> glob(String base, String pattern) {
    return call("glob", () -> inner.glob(base, pattern));
  }

  @Override
  public void makeFolder(String path, int mode) {
    run("makeFolder", () -> inner.makeFolder(path, mode));
  }

  @Override
  public void move(String from, String to, boolean replace) {
    run("move", () -> inner.move(from, to, replace));
  }

  @Override
  public void remove(String path, boolean recursive) {
    run("remove", () -> inner.remove(path, recursive));
  }

  @Override
  public void changeMode(String path, int mode) {
    run("changeMode", () -> inner.changeMode(path, mode));
  }

  @Override
  public void changeOwner(String path, String owner) {
    run("changeOwner", () -> inner.changeOwner(path, owner));
  }

  @Override
  public void makeLink(String link, String target) {
    run("makeLink", () -> inner.makeLink(link, target));
  }

  @Override
  public Map<String, Bytes> attributes(String path) {
    return call("attributes", () -> inner.attributes(path));
  }

  @Override
  public void setAttribute(String path, String name, Bytes value) {
    run("setAttribute", () -> inner.setAttribute(path, name, value));
  }

  @Override
  public void removeAttribute(String path, String name) {
    run("removeAttribute", () -> inner.removeAttribute(path, name));
  }
}
