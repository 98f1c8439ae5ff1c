package dev.isola.integrations.springai.sandbox;

import dev.isola.client.FileInfo;
import dev.isola.client.Files;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;
import org.springaicommunity.sandbox.FileEntry;
import org.springaicommunity.sandbox.FileSpec;
import org.springaicommunity.sandbox.FileType;
import org.springaicommunity.sandbox.Sandbox;
import org.springaicommunity.sandbox.SandboxException;
import org.springaicommunity.sandbox.SandboxFiles;

/** Files of a sandbox. The server decides which paths are within the sandbox. */
record IsolaSandboxFiles(IsolaSandbox sandbox) implements SandboxFiles {
  /** Largest file that {@link #read} holds in memory. */
  private static final int MAX_READ = 64 << 20;

  private <T> T call(Function<Files, T> operation) {
    return IsolaSandbox.translate(() -> operation.apply(sandbox.open().files()));
  }

  private SandboxFiles run(Consumer<Files> operation) {
    return call(
        files -> {
          operation.accept(files);
          return this;
        });
  }

  @Override
  public SandboxFiles create(String relativePath, String content) {
    return run(files -> files.write(relativePath, content));
  }

  @Override
  public SandboxFiles createDirectory(String relativePath) {
    return run(files -> files.makeFolder(relativePath));
  }

  @Override
  public SandboxFiles setup(List<FileSpec> all) {
    all.forEach(file -> create(file.path(), file.content()));
    return this;
  }

  @Override
  public String read(String relativePath) {
    return call(
        files -> {
          try (InputStream in = files.read(relativePath)) {
            byte[] bytes = in.readNBytes(MAX_READ + 1);
            if (bytes.length > MAX_READ) {
              throw new SandboxException(
                  relativePath + " is larger than 64 MiB; read it with the SDK as a stream");
            }
            return new String(bytes, StandardCharsets.UTF_8);
          } catch (IOException e) {
            throw new SandboxException(relativePath + " could not be read completely", e);
          }
        });
  }

  @Override
  public boolean exists(String relativePath) {
    return call(files -> files.find(relativePath).isPresent());
  }

  @Override
  public List<FileEntry> list(String relativePath) {
    return list(relativePath, 1);
  }

  @Override
  public List<FileEntry> list(String relativePath, int maxDepth) {
    if (maxDepth < 1) {
      throw new IllegalArgumentException("maxDepth is " + maxDepth);
    }
    return call(files -> files.list(relativePath, maxDepth)).stream().map(this::entry).toList();
  }

  private FileEntry entry(FileInfo info) {
    Path path = Path.of(info.path()).normalize();
    return new FileEntry(
        info.name(),
        info.isFolder() ? FileType.DIRECTORY : FileType.FILE,
        (path.startsWith(sandbox.workDir()) ? sandbox.workDir().relativize(path) : path).toString(),
        info.isFolder() ? 0 : info.size(),
        info.modifiedAt());
  }

  @Override
  public SandboxFiles delete(String relativePath) {
    return delete(relativePath, false);
  }

  @Override
  public SandboxFiles delete(String relativePath, boolean recursive) {
    return run(files -> files.remove(relativePath, recursive));
  }

  @Override
  public Sandbox and() {
    return sandbox;
  }
}
