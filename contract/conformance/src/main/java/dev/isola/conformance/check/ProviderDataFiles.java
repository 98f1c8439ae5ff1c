package dev.isola.conformance.check;

import dev.isola.conformance.escape.ProbeContext;
import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The files and sockets that a provider keeps on the host for its sandboxes. */
final class ProviderDataFiles {
  private static final int MAX_FILES = 200;

  private final List<String> files = new ArrayList<>();
  private final List<String> sockets = new ArrayList<>();

  private ProviderDataFiles() {}

  static ProviderDataFiles of(Path data) throws IOException {
    ProviderDataFiles found = new ProviderDataFiles();
    Files.walkFileTree(data, found.new Visitor());
    return found;
  }

  ProbeContext addTo(ProbeContext context) {
    return context.with("installation", files).with("sockets", sockets);
  }

  private final class Visitor extends SimpleFileVisitor<Path> {
    @Override
    public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
      List<String> list = attributes.isRegularFile() ? files : sockets;
      if (!attributes.isSymbolicLink() && list.size() < MAX_FILES) {
        list.add(file.toString());
      }
      return FileVisitResult.CONTINUE;
    }

    @Override
    public FileVisitResult visitFileFailed(Path file, IOException e) {
      return FileVisitResult.CONTINUE;
    }

    @Override
    public FileVisitResult postVisitDirectory(Path folder, @Nullable IOException e) {
      return FileVisitResult.CONTINUE;
    }
  }
}
