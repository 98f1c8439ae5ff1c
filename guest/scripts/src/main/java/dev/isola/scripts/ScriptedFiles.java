package dev.isola.scripts;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.isola.spi.Bytes;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.file.FileInfo;
import dev.isola.spi.file.FileSystem;
import dev.isola.spi.file.FileType;
import dev.isola.spi.file.FileUser;
import dev.isola.spi.file.TreeLimits;
import dev.isola.spi.file.TreeSummary;
import dev.isola.spi.provider.BasicFeature;
import java.io.InputStream;
import java.nio.file.LinkOption;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Files of a sandbox without the guest agent. A subclass reads, writes and lists by calls of its
 * backend; everything else is a small script of POSIX tools. Trees, patterns, extended attributes
 * and other users are not supported.
 */
public abstract class ScriptedFiles implements FileSystem {
  /** The parts of the contract that files by scripts lack. */
  public static final Set<BasicFeature> LACKS =
      Collections.unmodifiableSet(
          EnumSet.of(
              BasicFeature.DEEP_LISTS,
              BasicFeature.PATTERNS,
              BasicFeature.ARCHIVES,
              BasicFeature.ATTRIBUTES));

  private static final int LONGEST_PATH = 4096;
  private static final int LONGEST_MESSAGE = 400;

  private final String provider;
  private final SandboxId id;
  private final String folder;
  private final ScriptRunner runner;

  /**
   * Creates the files of a sandbox.
   *
   * @param provider its name in messages
   * @param folder the folder of relative paths
   */
  protected ScriptedFiles(String provider, SandboxId id, String folder, ScriptRunner runner) {
    this.provider = provider;
    this.id = id;
    this.folder = folder;
    this.runner = runner;
  }

  @Override
  public final FileSystem as(FileUser user) {
    throw Fault.of(
            ErrorCode.PERMISSION_DENIED,
            "provider " + provider + " cannot act as another user without the guest agent",
            "run a command as that user, or use another provider")
        .sandbox(id)
        .exception();
  }

  @Override
  public final FileInfo stat(String path, LinkOption... options) {
    boolean follow = !List.of(options).contains(LinkOption.NOFOLLOW_LINKS);
    String output = run(path, FileScripts.STAT, absolute(path), follow ? "-L" : "");
    return StatOutput.parse(output)
        .orElseThrow(
            () ->
                Fault.of(
                        ErrorCode.PROVIDER_UNAVAILABLE,
                        "the output of stat in the sandbox is not understood",
                        "install GNU coreutils or busybox there")
                    .sandbox(id)
                    .exception());
  }

  /** Returns the metadata of a file that can be read. */
  protected final FileInfo statFile(String path) {
    FileInfo info = stat(path);
    return switch (info.type()) {
      case FILE -> info;
      case FOLDER -> throw error(ErrorCode.IS_A_FOLDER, path, "is a folder");
      case LINK, OTHER -> throw error(ErrorCode.NOT_A_FILE, path, "is not a regular file");
    };
  }

  @Override
  public final Stream<FileInfo> list(String path, int depth) {
    if (depth != 1) {
      throw unsupported(BasicFeature.DEEP_LISTS);
    }
    if (stat(path).type() != FileType.FOLDER) {
      throw error(ErrorCode.NOT_A_FOLDER, path, "is not a folder");
    }
    return list(absolute(path)).stream();
  }

  /** Lists the entries of a folder. */
  protected abstract List<FileInfo> list(String absolute);

  @Override
  public final Stream<FileInfo> glob(String base, String pattern) {
    throw unsupported(BasicFeature.PATTERNS);
  }

  @Override
  public final void makeFolder(String path, int mode) {
    run(path, FileScripts.MAKE_FOLDER, absolute(path), Integer.toOctalString(mode));
  }

  @Override
  public final void move(String from, String to, boolean replace) {
    run(
        from + " to " + to,
        FileScripts.MOVE,
        absolute(from),
        absolute(to),
        replace ? "replace" : "");
  }

  @Override
  public final void remove(String path, boolean recursive) {
    run(path, FileScripts.REMOVE, absolute(path), recursive ? "tree" : "");
  }

  @Override
  public final void changeMode(String path, int mode) {
    run(path, FileScripts.CHANGE, absolute(path), "chmod", Integer.toOctalString(mode));
  }

  @Override
  public final void changeOwner(String path, String owner) {
    run(path, FileScripts.CHANGE, absolute(path), "chown", owner);
  }

  @Override
  public final void makeLink(String link, String target) {
    run(link, FileScripts.LINK, absolute(link), target);
  }

  @Override
  public final Map<String, Bytes> attributes(String path) {
    throw unsupported(BasicFeature.ATTRIBUTES);
  }

  @Override
  public final void setAttribute(String path, String name, Bytes value) {
    throw unsupported(BasicFeature.ATTRIBUTES);
  }

  @Override
  public final void removeAttribute(String path, String name) {
    throw unsupported(BasicFeature.ATTRIBUTES);
  }

  @Override
  public final InputStream exportTree(String path, List<String> excludes) {
    throw unsupported(BasicFeature.ARCHIVES);
  }

  @Override
  public final TreeSummary importTree(String path, InputStream archive, TreeLimits limits) {
    throw unsupported(BasicFeature.ARCHIVES);
  }

  private SandboxException unsupported(BasicFeature feature) {
    return Capability.unsupported(provider, feature.displayName());
  }

  /** Makes a path absolute; one that begins with a dash is not an option then. */
  protected final String absolute(String path) {
    if (path.isEmpty() || path.indexOf('\0') >= 0 || !UTF_8.newEncoder().canEncode(path)) {
      throw error(ErrorCode.INVALID_REQUEST, path.replace('\0', '?'), "is not a valid path");
    }
    String absolute = path.startsWith("/") ? path : folder + "/" + path;
    if (absolute.getBytes(UTF_8).length > LONGEST_PATH) {
      throw error(ErrorCode.INVALID_REQUEST, "the path", "is too long");
    }
    return absolute;
  }

  /** Returns the absolute path of a file to write. */
  protected final String absoluteFile(String path) {
    if (path.endsWith("/")) {
      throw error(ErrorCode.IS_A_FOLDER, path, "names a folder");
    }
    return absolute(path);
  }

  /** Runs a script, whose exit code tells what failed. */
  protected final String run(String path, String script, String... args) {
    List<String> argv = new ArrayList<>(List.of("sh", "-c", script, "sh"));
    argv.addAll(List.of(args));
    ScriptRunner.Result result = runner.run(argv);
    if (result.exitCode() == 0) {
      return result.output();
    }
    String said = message(result.error());
    throw FileScripts.code(result.exitCode(), result.error())
        .map(code -> error(code, path, "failed: " + said))
        .orElseGet(
            () ->
                Fault.of(
                        ErrorCode.PROVIDER_UNAVAILABLE,
                        "a script in the sandbox failed with exit code "
                            + result.exitCode()
                            + ": "
                            + said,
                        "check that sh, stat, mkdir, mv, rm, chmod, ln and cat are there")
                    .sandbox(id)
                    .exception());
  }

  /** Returns the output of a guest process on one line, without control characters. */
  private static String message(String untrusted) {
    String line = untrusted.strip().replaceAll("\\p{Cntrl}+", " ");
    return line.length() <= LONGEST_MESSAGE ? line : line.substring(0, LONGEST_MESSAGE) + "...";
  }

  private SandboxException error(ErrorCode code, String path, String what) {
    return Fault.of(code, path + " " + what, "use another path").sandbox(id).exception();
  }
}
