package dev.isola.testing.provider;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.file.FileInfo;
import dev.isola.spi.file.FileSystem;
import dev.isola.spi.file.ReadRange;
import dev.isola.spi.file.TreeLimits;
import dev.isola.spi.file.TreeSummary;
import dev.isola.spi.file.WriteOptions;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;

/** Plants faults in a file system. */
final class FileFaults {
  private static final int NAME = 100;

  private FileFaults() {}

  static FileSystem in(FileSystem files, PlantedFaults faults) {
    if (faults.has(PlantedFault.WRITE_NOT_ATOMIC)) {
      return Interception.of(
          FileSystem.class,
          files,
          "write",
          arguments ->
              writeWhatCame(
                  files,
                  (String) arguments[0],
                  (InputStream) arguments[1],
                  (WriteOptions) arguments[2]));
    }
    if (faults.has(PlantedFault.HOST_FILES_SERVED)) {
      return Interception.of(
          FileSystem.class,
          files,
          "read",
          arguments -> readFromTheHost(files, (String) arguments[0], (ReadRange) arguments[1]));
    }
    if (faults.has(PlantedFault.ARCHIVE_CLIMBS)) {
      return Interception.of(
          FileSystem.class,
          files,
          "importTree",
          arguments ->
              unpackClimbing(
                  files,
                  (String) arguments[0],
                  (InputStream) arguments[1],
                  (TreeLimits) arguments[2]));
    }
    return files;
  }

  /** Writes the bytes that precede a failure of {@code content}, then fails. */
  private static FileInfo writeWhatCame(
      FileSystem files, String path, InputStream content, WriteOptions options) throws IOException {
    EndingAtFailure ending = new EndingAtFailure(content);
    FileInfo written = files.write(path, ending, options);
    return ending.failed() ? files.write(path, content, options) : written;
  }

  private static InputStream readFromTheHost(FileSystem files, String path, ReadRange range)
      throws IOException {
    try {
      files.stat(path);
    } catch (SandboxException missing) {
      if (Files.isRegularFile(Path.of("/", path))) {
        return Files.newInputStream(Path.of("/", path));
      }
    }
    return files.read(path, range);
  }

  /** Extracts the first entry of a rejected archive to wherever its name points. */
  private static TreeSummary unpackClimbing(
      FileSystem files, String path, InputStream archive, TreeLimits limits) throws IOException {
    byte[] tar = archive.readAllBytes();
    try {
      return files.importTree(path, new ByteArrayInputStream(tar), limits);
    } catch (SandboxException e) {
      String name = new String(tar, 0, Math.min(tar.length, NAME), UTF_8).split("\0", 2)[0];
      if (e.code() != ErrorCode.BAD_ARCHIVE || !name.contains("..")) {
        throw e;
      }
      files.writeText(Path.of(path, name).normalize().toString(), "climbed", UTF_8);
      return new TreeSummary(1, 0);
    }
  }

  /** A stream that turns a failure into end of file. */
  private static final class EndingAtFailure extends InputStream {
    private final InputStream content;
    private boolean failed;

    private EndingAtFailure(InputStream content) {
      this.content = content;
    }

    private boolean failed() {
      return failed;
    }

    @Override
    public int read() throws IOException {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] into, int offset, int length) {
      try {
        return failed ? -1 : content.read(into, offset, length);
      } catch (IOException e) {
        failed = true;
        return -1;
      }
    }
  }
}
