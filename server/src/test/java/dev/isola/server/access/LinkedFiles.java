package dev.isola.server.access;

import dev.isola.spi.Bytes;
import dev.isola.spi.file.FileInfo;
import dev.isola.spi.file.FileSystem;
import dev.isola.spi.file.FileType;
import dev.isola.spi.file.FileUser;
import dev.isola.spi.file.ReadRange;
import dev.isola.spi.file.TreeLimits;
import dev.isola.spi.file.TreeSummary;
import dev.isola.spi.file.WriteOptions;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The files of this machine with its {@code /proc}, as a sandbox with a root of its own has them.
 */
record LinkedFiles(Path workspace) implements FileSystem {
  static final byte[] CONTENT = {'x'};

  private FileInfo info(Path path) {
    FileType type =
        Files.isSymbolicLink(path)
            ? FileType.LINK
            : Files.isDirectory(path) ? FileType.FOLDER : FileType.FILE;
    return new FileInfo(
        path.toString(), type, 0644, 1, 0, 0, "root", "root", Instant.EPOCH, Optional.empty());
  }

  @Override
  public FileInfo stat(String path, LinkOption... options) {
    Path given = workspace.resolve(path);
    try {
      return info(List.of(options).isEmpty() ? given.toRealPath() : given);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public InputStream read(String path, ReadRange range) {
    return new ByteArrayInputStream(CONTENT);
  }

  @Override
  public Stream<FileInfo> list(String path, int depth) {
    return Stream.of("proc", "proc/1", "proc/1/environ", "sys/kernel", "dev/null", "etc/hosts")
        .map(name -> info(workspace.resolve(path).resolve(name)));
  }

  @Override
  public Stream<FileInfo> glob(String base, String pattern) {
    return list(base, 0);
  }

  @Override
  public InputStream exportTree(String path, List<String> excludes) {
    return new ByteArrayInputStream(CONTENT);
  }

  @Override
  public FileSystem as(FileUser user) {
    throw new UnsupportedOperationException();
  }

  @Override
  public FileInfo write(String path, InputStream content, WriteOptions options) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void makeFolder(String path, int mode) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void move(String from, String to, boolean replace) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void remove(String path, boolean recursive) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void changeMode(String path, int mode) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void changeOwner(String path, String owner) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void makeLink(String link, String target) {
    throw new UnsupportedOperationException();
  }

  @Override
  public Map<String, Bytes> attributes(String path) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void setAttribute(String path, String name, Bytes value) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void removeAttribute(String path, String name) {
    throw new UnsupportedOperationException();
  }

  @Override
  public TreeSummary importTree(String path, InputStream archive, TreeLimits limits) {
    throw new UnsupportedOperationException();
  }
}
