package dev.isola.engine.metrics;

import dev.isola.engine.lifecycle.ActivityTracker;
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

/**
 * Records duration and bytes of file transfers. Content to write is passed on unwrapped, because
 * the receiver may have a faster way to copy a file than reading the stream.
 */
record MeasuredFiles(
    FileSystem inner,
    String provider,
    MetricsRecorder recorder,
    Supplier<ActivityTracker.Activity> activity)
    implements FileSystem {

  @Override
  public FileSystem as(FileUser user) {
    return new MeasuredFiles(inner.as(user), provider, recorder, activity);
  }

  @Override
  public InputStream read(String path, ReadRange range) {
    return out(ByteCategory.FILE, () -> inner.read(path, range));
  }

  @Override
  public InputStream exportTree(String path, List<String> excludes) {
    return out(ByteCategory.TREE, () -> inner.exportTree(path, excludes));
  }

  private InputStream out(ByteCategory category, Supplier<InputStream> opening) {
    long start = System.nanoTime();
    try {
      InputStream content = opening.get();
      ActivityTracker.Activity use = activity.get();
      return new MeteredInputStream(
          content,
          (bytes, succeeded) -> {
            use.close();
            recorder.recordBytes(provider, category, Direction.OUT, bytes);
            recorder.recordTransfer(provider, Direction.OUT, succeeded, System.nanoTime() - start);
          });
    } catch (SandboxException e) {
      throw failed(Direction.OUT, start, e);
    }
  }

  @Override
  public FileInfo write(String path, InputStream content, WriteOptions options) {
    long start = System.nanoTime();
    try (ActivityTracker.Activity _ = activity.get()) {
      FileInfo written;
      long bytes;
      if (options.append()) {
        // When appending, the resulting size is not the number of bytes written.
        MeteredInputStream counted = new MeteredInputStream(content, (count, succeeded) -> {});
        written = inner.write(path, counted, options);
        bytes = counted.bytes();
      } else {
        written = inner.write(path, content, options);
        bytes = written.size();
      }
      recordImport(ByteCategory.FILE, bytes, start);
      return written;
    } catch (SandboxException e) {
      throw failed(Direction.IN, start, e);
    }
  }

  @Override
  public TreeSummary importTree(String path, InputStream archive, TreeLimits limits) {
    long start = System.nanoTime();
    try (ActivityTracker.Activity _ = activity.get()) {
      TreeSummary summary = inner.importTree(path, archive, limits);
      recordImport(ByteCategory.TREE, summary.bytes(), start);
      return summary;
    } catch (SandboxException e) {
      throw failed(Direction.IN, start, e);
    }
  }

  private void recordImport(ByteCategory category, long bytes, long start) {
    recorder.recordBytes(provider, category, Direction.IN, bytes);
    recorder.recordTransfer(provider, Direction.IN, true, System.nanoTime() - start);
  }

  private SandboxException failed(Direction direction, long start, SandboxException e) {
    recorder.recordTransfer(provider, direction, false, System.nanoTime() - start);
    recorder.recordError(EngineOperation.FILES, e.code());
    return e;
  }

  private <T> T recordingErrors(Supplier<T> work) {
    try {
      return work.get();
    } catch (SandboxException e) {
      recorder.recordError(EngineOperation.FILES, e.code());
      throw e;
    }
  }

  private void runRecordingErrors(Runnable work) {
    try {
      work.run();
    } catch (SandboxException e) {
      recorder.recordError(EngineOperation.FILES, e.code());
      throw e;
    }
  }

  @Override
  public FileInfo stat(String path, LinkOption... options) {
    return recordingErrors(() -> inner.stat(path, options));
  }

  /** Not recorded: a missing file is not an error here. */
  @Override
  public boolean exists(String path) {
    return inner.exists(path);
  }

  @Override
  public Stream<FileInfo> list(String path, int depth) {
    return recordingErrors(() -> inner.list(path, depth));
  }

  @Override
  public Stream<FileInfo> glob(String base, String pattern) {
    return recordingErrors(() -> inner.glob(base, pattern));
  }

  @Override
  public void makeFolder(String path, int mode) {
    runRecordingErrors(() -> inner.makeFolder(path, mode));
  }

  @Override
  public void move(String from, String to, boolean replace) {
    runRecordingErrors(() -> inner.move(from, to, replace));
  }

  @Override
  public void remove(String path, boolean recursive) {
    runRecordingErrors(() -> inner.remove(path, recursive));
  }

  @Override
  public void changeMode(String path, int mode) {
    runRecordingErrors(() -> inner.changeMode(path, mode));
  }

  @Override
  public void changeOwner(String path, String owner) {
    runRecordingErrors(() -> inner.changeOwner(path, owner));
  }

  @Override
  public void makeLink(String link, String target) {
    runRecordingErrors(() -> inner.makeLink(link, target));
  }

  @Override
  public Map<String, Bytes> attributes(String path) {
    return recordingErrors(() -> inner.attributes(path));
  }

  @Override
  public void setAttribute(String path, String name, Bytes value) {
    runRecordingErrors(() -> inner.setAttribute(path, name, value));
  }

  @Override
  public void removeAttribute(String path, String name) {
    runRecordingErrors(() -> inner.removeAttribute(path, name));
  }
}
