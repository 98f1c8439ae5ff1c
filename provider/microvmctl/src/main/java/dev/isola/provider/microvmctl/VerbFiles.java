package dev.isola.provider.microvmctl;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.isola.spi.Bytes;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
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
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Stream;

/**
 * Files by the verbs of the contract. What has no verb is a small script of POSIX tools; trees,
 * patterns and extended attributes are not supported without the guest agent.
 */
final class VerbFiles implements FileSystem {
  private static final Duration TIMEOUT = Duration.ofSeconds(60);
  private static final Duration LONGEST_TRANSFER = Duration.ofHours(1);
  private static final int LONGEST_PATH = 4096;

  private final Controller controller;
  private final VmRecord record;
  private final Runnable requireExisting;

  VerbFiles(Controller controller, VmRecord record, Runnable requireExisting) {
    this.controller = controller;
    this.record = record;
    this.requireExisting = requireExisting;
  }

  @Override
  public FileSystem as(FileUser user) {
    throw unsupported("acting as another user");
  }

  @Override
  public InputStream read(String path, ReadRange range) {
    FileInfo info = stat(path);
    switch (info.type()) {
      case FILE -> {}
      case FOLDER -> throw error(ErrorCode.IS_A_FOLDER, path, "is a folder");
      case LINK, OTHER -> throw error(ErrorCode.NOT_A_FILE, path, "is not a regular file");
    }
    ControllerProcess process = controller.read(record.vm(), absolute(path));
    return new Base64Content(process, controller.errors(), range);
  }

  /** Uploads to a temporary file, so that content that fails replaces nothing. */
  @Override
  public FileInfo write(String path, InputStream content, WriteOptions options) {
    String target = absolute(path);
    if (target.endsWith("/")) {
      throw error(ErrorCode.IS_A_FOLDER, path, "names a folder");
    }
    String staged = "/tmp/." + record.vm() + "/" + UUID.randomUUID();
    try {
      controller.write(record.vm(), staged, content, LONGEST_TRANSFER);
      String how = options.append() ? "append" : options.exclusive() ? "new" : "replace";
      run(
          path,
          FileScripts.PUT,
          staged,
          target,
          how,
          options.mode().map(Integer::toOctalString).orElse(""));
      return stat(path);
    } catch (SandboxException e) {
      removeStaged(staged, e);
      throw e;
    }
  }

  private void removeStaged(String staged, SandboxException why) {
    try {
      run(staged, FileScripts.DISCARD, staged);
    } catch (SandboxException e) {
      why.addSuppressed(e);
    }
  }

  @Override
  public FileInfo stat(String path, LinkOption... options) {
    boolean follow = !List.of(options).contains(LinkOption.NOFOLLOW_LINKS);
    String output = run(path, FileScripts.STAT, absolute(path), follow ? "-L" : "");
    return StatOutput.parse(output)
        .orElseThrow(() -> controller.errors().malformed("exec", "the output of stat"));
  }

  @Override
  public Stream<FileInfo> list(String path, int depth) {
    if (depth != 1) {
      throw unsupported("listing more than one level");
    }
    if (stat(path).type() != dev.isola.spi.file.FileType.FOLDER) {
      throw error(ErrorCode.NOT_A_FOLDER, path, "is not a folder");
    }
    requireExisting.run();
    String text = controller.list(record.vm(), absolute(path));
    return new Listing(controller.errors(), absolute(path)).parse(text).stream();
  }

  @Override
  public Stream<FileInfo> glob(String base, String pattern) {
    throw unsupported("searching by a pattern");
  }

  @Override
  public void makeFolder(String path, int mode) {
    run(path, FileScripts.MAKE_FOLDER, absolute(path), Integer.toOctalString(mode));
  }

  @Override
  public void move(String from, String to, boolean replace) {
    run(from, FileScripts.MOVE, absolute(from), absolute(to), replace ? "replace" : "");
  }

  @Override
  public void remove(String path, boolean recursive) {
    run(path, FileScripts.REMOVE, absolute(path), recursive ? "tree" : "");
  }

  @Override
  public void changeMode(String path, int mode) {
    run(path, FileScripts.CHANGE, absolute(path), "chmod", Integer.toOctalString(mode));
  }

  @Override
  public void changeOwner(String path, String owner) {
    run(path, FileScripts.CHANGE, absolute(path), "chown", owner);
  }

  @Override
  public void makeLink(String link, String target) {
    run(link, FileScripts.LINK, absolute(link), target);
  }

  @Override
  public Map<String, Bytes> attributes(String path) {
    throw unsupported("extended attributes");
  }

  @Override
  public void setAttribute(String path, String name, Bytes value) {
    throw unsupported("extended attributes");
  }

  @Override
  public void removeAttribute(String path, String name) {
    throw unsupported("extended attributes");
  }

  @Override
  public InputStream exportTree(String path, List<String> excludes) {
    throw unsupported("archives");
  }

  @Override
  public TreeSummary importTree(String path, InputStream archive, TreeLimits limits) {
    throw unsupported("archives");
  }

  private static SandboxException unsupported(String what) {
    return Capability.unsupported(
        MicrovmctlDescription.NAME, what + " (without the guest agent, see the setting agent)");
  }

  /** Makes a path absolute; one that begins with a dash is not an option then. */
  private String absolute(String path) {
    if (path.isEmpty() || path.indexOf('\0') >= 0 || !UTF_8.newEncoder().canEncode(path)) {
      throw error(ErrorCode.INVALID_REQUEST, path.replace('\0', '?'), "is not a valid path");
    }
    String absolute = path.startsWith("/") ? path : record.folder() + "/" + path;
    if (absolute.getBytes(UTF_8).length > LONGEST_PATH) {
      throw error(ErrorCode.INVALID_REQUEST, "the path", "is too long");
    }
    return absolute;
  }

  /** Runs a script, whose exit code tells what failed. */
  private String run(String path, String script, String... args) {
    requireExisting.run();
    List<String> argv = new ArrayList<>(List.of("sh", "-c", script, "sh"));
    argv.addAll(List.of(args));
    Controller.Result result = controller.exec(record.vm(), TIMEOUT, new byte[0], argv);
    if (result.exitCode() == 0) {
      return result.text();
    }
    if (result.exitCode() == ControllerErrors.OWN_FAILURE
        && ControllerErrors.reported(result.error()).isPresent()) {
      throw controller.errors().of("exec", result.exitCode(), result.error());
    }
    throw FileScripts.code(result.exitCode(), result.error())
        .map(code -> error(code, path, "failed: " + ControllerErrors.text(result.error())))
        .orElseGet(() -> controller.errors().of("exec", result.exitCode(), result.error()));
  }

  private SandboxException error(ErrorCode code, String path, String what) {
    return Fault.of(code, path + " " + what, "use another path").sandbox(record.id()).exception();
  }
}
