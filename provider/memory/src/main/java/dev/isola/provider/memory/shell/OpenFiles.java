package dev.isola.provider.memory.shell;

import dev.isola.provider.memory.file.DeviceKind;
import dev.isola.provider.memory.file.OpenContent;
import dev.isola.provider.memory.file.Tree;
import dev.isola.provider.memory.process.OpenFile;
import dev.isola.provider.memory.process.Proc;
import dev.isola.spi.error.SandboxException;
import java.io.IOException;
import java.util.Arrays;
import java.util.Optional;

/** Opens files of the tree as descriptors. */
final class OpenFiles {
  private OpenFiles() {}

  static OpenFile forReading(Proc proc, String path) throws IOException {
    Optional<DeviceKind> device = proc.tree().deviceAt(path);
    return device.isPresent()
        ? device(proc, device.get())
        : new Regular(proc.tree().open(path), false);
  }

  static OpenFile forWriting(Proc proc, String path, boolean append) throws IOException {
    Tree tree = proc.tree();
    Optional<DeviceKind> device =
        tree.find(path, true).isEmpty() ? Optional.empty() : tree.deviceAt(path);
    return device.isPresent()
        ? device(proc, device.get())
        : new Regular(tree.openForWriting(path, false, !append, 0644), append);
  }

  private static OpenFile device(Proc proc, DeviceKind kind) throws IOException {
    return switch (kind) {
      case NULL -> new Nothing();
      case ZERO -> new Zero();
      case TERMINAL -> terminal(proc);
    };
  }

  private static OpenFile terminal(Proc proc) throws IOException {
    for (int i = 0; i < 3; i++) {
      Optional<OpenFile> file = proc.descriptor(i).filter(open -> open.terminal().isPresent());
      if (file.isPresent()) {
        return file.get().retain();
      }
    }
    throw new IOException("No such device or address");
  }

  /** {@code /dev/null}. */
  static final class Nothing extends OpenFile {
    @Override
    public int read(byte[] buffer, int offset, int length) {
      return -1;
    }

    @Override
    public void write(byte[] bytes, int offset, int length) {}
  }

  private static final class Zero extends OpenFile {
    @Override
    public int read(byte[] buffer, int offset, int length) {
      Arrays.fill(buffer, offset, offset + length, (byte) 0);
      return length;
    }

    @Override
    public void write(byte[] bytes, int offset, int length) {}
  }

  private static final class Regular extends OpenFile {
    private final OpenContent content;
    private final boolean append;
    private long position;

    Regular(OpenContent content, boolean append) {
      this.content = content;
      this.append = append;
    }

    @Override
    public synchronized int read(byte[] buffer, int offset, int length) {
      int count = content.read(position, buffer, offset, length);
      position += Math.max(0, count);
      return count;
    }

    @Override
    public synchronized void write(byte[] bytes, int offset, int length) throws IOException {
      try {
        if (append) {
          content.append(bytes, offset, length);
        } else {
          content.write(position, bytes, offset, length);
          position += length;
        }
      } catch (SandboxException e) {
        throw new IOException(Call.reason(e), e);
      }
    }
  }
}
