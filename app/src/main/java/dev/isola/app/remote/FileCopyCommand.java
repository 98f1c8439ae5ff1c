package dev.isola.app.remote;

import dev.isola.app.cli.Arguments;
import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.Console;
import dev.isola.app.cli.ExitCodes;
import dev.isola.app.cli.IoErrors;
import dev.isola.app.cli.UsageException;
import dev.isola.client.FileInfo;
import dev.isola.client.FileModes;
import dev.isola.client.Files;
import dev.isola.client.Isola;
import dev.isola.client.error.IsolaException;
import dev.isola.codec.json.Json;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.FileVisitResult;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Copies files between this host and a sandbox or volume of a server. */
abstract class FileCopyCommand extends RemoteCommand {
  private static final int BUFFER = 256 * 1024;

  @Option(
      names = {"-q", "--quiet"},
      description = "Do not show progress.")
  private boolean quiet;

  @Parameters(index = "0", paramLabel = "SRC", description = "Source path.")
  private String from = "";

  @Parameters(
      index = "1",
      paramLabel = "DST",
      description = "Target path; inside an existing folder, the copy keeps its name.")
  private String to = "";

  private final Pattern remote;
  private final String noun;
  private final String example;

  /**
   * @param remote matches a remote path; the first group is the sandbox or volume, the second the
   *     path
   * @param noun placeholder for the first group in messages
   * @param example of a complete command
   */
  FileCopyCommand(CommandContext context, Pattern remote, String noun, String example) {
    super(context);
    this.remote = remote;
    this.noun = noun;
    this.example = example;
  }

  /** Returns the files of the named sandbox or volume. */
  abstract Files files(Isola isola, String name);

  @Override
  int run(Isola isola, Console console) {
    Matcher source = remote.matcher(from);
    Matcher target = remote.matcher(to);
    if (source.matches() == target.matches()) {
      throw new UsageException(
          "exactly one of SRC and DST must be " + noun + ":PATH",
          source.matches()
              ? "copy to this host first; write a local name with a colon as ./NAME"
              : "for example: " + example);
    }
    long bytes;
    try {
      bytes =
          target.matches()
              ? upload(files(isola, target.group(1)), path(target.group(2)), console)
              : download(files(isola, source.group(1)), path(source.group(2)), console);
    } catch (IOException e) {
      throw failed(e);
    }
    if (console.json()) {
      console.print(Json.object("from", from, "to", to, "bytes", bytes));
    }
    return ExitCodes.OK;
  }

  private static String path(String text) {
    return text.isEmpty() ? "." : text;
  }

  private static SandboxException failed(IOException e) {
    if (e.getCause() instanceof IsolaException remote) {
      return RemoteFault.of(remote);
    }
    return Fault.of(
            ErrorCode.EXECUTION_FAILED,
            "the copy failed: " + IoErrors.describe(e),
            "files copied so far are kept; run the copy again")
        .exception(e);
  }

  private ProgressBar progress(Console console, long total) {
    return new ProgressBar(
        context.environment(),
        context.environment().tty().err() && !quiet && !console.json(),
        total);
  }

  private long upload(Files files, String path, Console console) throws IOException {
    AtomicLong sent = new AtomicLong();
    if (from.equals("-")) {
      try (ProgressBar progress = progress(console, -1)) {
        files.write(
            path,
            context.environment().in(),
            -1,
            OptionalInt.empty(),
            bytes -> progress.update(counted(sent, bytes)));
      }
      return sent.get();
    }
    Path local = Arguments.hostPath("SRC", from);
    if (java.nio.file.Files.isDirectory(local)) {
      String target =
          from.endsWith("/.") || from.equals(".") ? path : targetPath(files, path, local);
      try (ProgressBar progress = progress(console, sizeOf(local))) {
        files.upload(local, target, bytes -> progress.update(counted(sent, bytes)));
      }
      return sent.get();
    }
    if (!java.nio.file.Files.isRegularFile(local)) {
      throw new UsageException(
          java.nio.file.Files.exists(local)
              ? from + " is not a file or folder"
              : "no such file or folder: " + from,
          "use a file or folder on this host, or - for stdin");
    }
    long size = java.nio.file.Files.size(local);
    try (InputStream in = java.nio.file.Files.newInputStream(local);
        ProgressBar progress = progress(console, size)) {
      files.write(
          targetPath(files, path, local),
          in,
          size,
          OptionalInt.of(FileModes.of(java.nio.file.Files.getPosixFilePermissions(local))),
          bytes -> progress.update(counted(sent, bytes)));
    }
    return sent.get();
  }

  private static long counted(AtomicLong sum, long bytes) {
    sum.set(bytes);
    return bytes;
  }

  /** Returns the target path: inside an existing folder, a copy keeps its name. */
  private static String targetPath(Files files, String path, Path local) {
    boolean folder = path.endsWith("/") || files.find(path).filter(FileInfo::isFolder).isPresent();
    return folder ? path.replaceAll("/+$", "") + "/" + local.getFileName() : path;
  }

  private static long sizeOf(Path folder) throws IOException {
    AtomicLong size = new AtomicLong();
    java.nio.file.Files.walkFileTree(
        folder,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
            // Size in the archive: a header, and the content padded to blocks.
            size.addAndGet(512 + (attributes.isRegularFile() ? attributes.size() + 511 & -512 : 0));
            return FileVisitResult.CONTINUE;
          }
        });
    return size.get();
  }

  private long download(Files files, String path, Console console) throws IOException {
    if (to.equals("-")) {
      try (InputStream in = files.read(path)) {
        return copy(in, context.environment().out(), progress(console, -1));
      }
    }
    FileInfo info = files.stat(path);
    Path local = Arguments.hostPath("DST", to);
    if (info.isFolder()) {
      boolean contents = path.endsWith("/.") || path.equals(".");
      Path target =
          java.nio.file.Files.isDirectory(local) && !contents ? local.resolve(name(info)) : local;
      AtomicLong received = new AtomicLong();
      List<String> skipped;
      try (ProgressBar progress = progress(console, -1)) {
        skipped = files.download(path, target, bytes -> progress.update(counted(received, bytes)));
      }
      reportSkipped(console, skipped);
      return received.get();
    }
    Path target =
        java.nio.file.Files.isDirectory(local) || to.endsWith("/")
            ? local.resolve(name(info))
            : local;
    return file(
        files.read(path), info, target, progress(console, info.isFile() ? info.size() : -1));
  }

  /** Returns the file name that the sandbox reports, which is untrusted. */
  private static String name(FileInfo info) {
    String name = info.name();
    if (name.isEmpty() || name.equals(".") || name.equals("..") || name.indexOf('/') >= 0) {
      throw new UsageException(
          "the sandbox reports an invalid file name", "name the target file in DST");
    }
    return name;
  }

  /** Writes the file atomically. */
  private static long file(InputStream content, FileInfo info, Path target, ProgressBar progress)
      throws IOException {
    Optional<Path> parent = Optional.ofNullable(target.getParent());
    Path temporary = java.nio.file.Files.createTempFile(parent.orElseThrow(), ".isola-cp", "");
    try (content;
        OutputStream out = java.nio.file.Files.newOutputStream(temporary)) {
      long bytes = copy(content, out, progress);
      java.nio.file.Files.setPosixFilePermissions(
          temporary, FileModes.permissions(info.isFile() ? info.mode() : 0644));
      java.nio.file.Files.move(temporary, target, StandardCopyOption.REPLACE_EXISTING);
      return bytes;
    } finally {
      java.nio.file.Files.deleteIfExists(temporary);
    }
  }

  private static long copy(InputStream in, OutputStream out, ProgressBar progress)
      throws IOException {
    try (progress) {
      byte[] buffer = new byte[BUFFER];
      long done = 0;
      for (int count = in.read(buffer); count >= 0; count = in.read(buffer)) {
        out.write(buffer, 0, count);
        done += count;
        progress.update(done);
      }
      out.flush();
      return done;
    }
  }

  private static void reportSkipped(Console console, List<String> skipped) {
    if (!skipped.isEmpty()) {
      console.printErr(
          skipped.size()
              + " links point outside of the folder and were skipped, such as "
              + skipped.getFirst());
    }
  }
}
