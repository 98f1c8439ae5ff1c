package dev.isola.provider.e2b.file;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.isola.provider.e2b.exec.SandboxContext;
import dev.isola.provider.e2b.exec.ScriptRunner;
import dev.isola.spi.Bytes;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.file.FileInfo;
import dev.isola.spi.file.FileSystem;
import dev.isola.spi.file.FileUser;
import dev.isola.spi.file.ReadRange;
import dev.isola.spi.file.TreeLimits;
import dev.isola.spi.file.TreeSummary;
import dev.isola.spi.file.WriteOptions;
import java.io.InputStream;
import java.nio.file.LinkOption;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Stream;

/** The files of a sandbox. */
public final class E2bFiles implements FileSystem {
  private static final int MAX_DEPTH = 1_000_000;

  private final SandboxContext context;
  private final ScriptRunner shell;
  private final PathResolver paths;
  private final FileErrors errors;
  private final Staging staging;

  /** Empty for the sandbox's user. */
  private final Optional<FileUser> user;

  /** The owner of the files that root creates. */
  private final Optional<FileOwner> owner;

  public E2bFiles(SandboxContext context) {
    this(context, Optional.empty());
  }

  private E2bFiles(SandboxContext context, Optional<FileUser> user) {
    this.context = context;
    this.user = user;
    this.shell = new ScriptRunner(context);
    this.paths = new PathResolver(context);
    this.errors = new FileErrors(context);
    this.staging = new Staging(context, shell, errors);
    this.owner =
        user.filter(FileUser::privileged).map(one -> new FileOwner(shell, errors, one.name()));
  }

  @Override
  public FileSystem as(FileUser user) {
    return new E2bFiles(
        context.asUser(user.privileged() ? "root" : user.name()), Optional.of(user));
  }

  /** Creates a file or folder and changes its owner if one is set. */
  private <T> T createOwned(String path, String absolute, boolean keep, Supplier<T> making) {
    return owner.isEmpty() ? making.get() : owner.get().createOwned(path, absolute, keep, making);
  }

  @Override
  public InputStream read(String path, ReadRange range) {
    String absolute = paths.absolute(path);
    FileInfo info = one(FileScripts.FOLLOW, "reading", path, absolute);
    ErrorCode wrong =
        switch (info.type()) {
          case FILE -> ErrorCode.INTERNAL;
          case FOLDER -> ErrorCode.IS_A_FOLDER;
          case LINK -> ErrorCode.FILE_NOT_FOUND;
          case OTHER -> ErrorCode.NOT_A_FILE;
        };
    if (wrong != ErrorCode.INTERNAL) {
      throw errors.of(wrong, "reading", path, "not a regular file");
    }
    return user.isPresent()
        ? readAsUser(path, absolute, range)
        : new ContentReader(context, errors).open(path, absolute, range, info.size());
  }

  /**
   * Reads through a script that runs as the user, because envd serves content with the permissions
   * of the sandbox's user.
   */
  private InputStream readAsUser(String path, String absolute, ReadRange range) {
    if (range.length() == 0 || range.offset() == Long.MAX_VALUE) {
      return InputStream.nullInputStream();
    }
    String length = range.length() == Long.MAX_VALUE ? "" : Long.toString(range.length());
    List<String> args = List.of(absolute, Long.toString(range.offset() + 1), length);
    ScriptRunner.RunningScript content =
        shell.start(FileScripts.READ, context.user(), args, Optional.empty());
    return new ScriptOutput(content, result -> errors.of("reading", path, result));
  }

  @Override
  public FileInfo write(String path, InputStream content, WriteOptions options) {
    String absolute = paths.absolute(path);
    if (absolute.endsWith("/")) {
      throw errors.of(ErrorCode.IS_A_FOLDER, "writing", path, "the path is a folder");
    }
    return createOwned(path, absolute, false, () -> put(path, absolute, content, options));
  }

  private FileInfo put(String path, String absolute, InputStream content, WriteOptions options) {
    boolean anothers = context.user().isPresent();
    String how =
        options.append()
            ? "append"
            : options.exclusive() ? "new" : options.atomic() ? "whole" : "in-place";
    return staging.with(
        path,
        content,
        staged -> {
          List<String> args =
              List.of(
                  staged,
                  absolute,
                  PathResolver.parent(absolute),
                  how,
                  options.mode().map(E2bFiles::octal).orElse(""),
                  anothers ? "copy" : "move",
                  options.sync() ? "sync" : "");
          ScriptRunner.ScriptResult result = shell.run(FileScripts.PUT, context.user(), args);
          if (anothers || !result.succeeded()) {
            staging.remove(staged);
          }
          return file("writing", path, result);
        });
  }

  @Override
  public FileInfo stat(String path, LinkOption... options) {
    return List.of(options).contains(LinkOption.NOFOLLOW_LINKS)
        ? one(FileScripts.STAT, "getting the status of", path, paths.absolute(path))
        : one(FileScripts.FOLLOW, "following", path, paths.absolute(path));
  }

  private FileInfo one(String script, String what, String path, String absolute) {
    return file(what, path, shell.run(script, absolute));
  }

  private FileInfo file(String what, String path, ScriptRunner.ScriptResult result) {
    List<FileInfo> files =
        result.succeeded() ? new FindOutputParser().parse(result.out().toArray()) : List.of();
    if (files.size() != 1) {
      throw errors.of(what, path, result);
    }
    return files.getFirst();
  }

  @Override
  public Stream<FileInfo> list(String path, int depth) {
    if (depth < 0) {
      throw paths.refused("the depth must not be negative: " + depth);
    }
    String absolute = paths.absolute(path);
    String levels = Integer.toString(depth == 0 ? MAX_DEPTH : depth);
    return found(
        "listing", path, FileScripts.LIST, absolute, PathResolver.folder(absolute), levels);
  }

  @Override
  public Stream<FileInfo> glob(String base, String pattern) {
    String absolute = paths.absolute(base);
    String start = PathResolver.folder(absolute);
    if (pattern.indexOf('\0') >= 0) {
      throw paths.refused("a pattern must not contain NUL");
    }
    return found(
        "searching", base, FileScripts.GLOB, absolute, start, GlobPatterns.beneath(start, pattern));
  }

  private Stream<FileInfo> found(String what, String path, String script, String... args) {
    return new FileSearch(shell, context, errors).stream(what, path, script, List.of(args));
  }

  @Override
  public void makeFolder(String path, int mode) {
    checked(mode);
    String absolute = paths.absolute(path);
    createOwned(
        path,
        absolute,
        true,
        () ->
            runScript("creating the folder", path, FileScripts.MAKE_FOLDER, absolute, octal(mode)));
  }

  @Override
  public void move(String from, String to, boolean replace) {
    String target = paths.absolute(to);
    ScriptRunner.ScriptResult result =
        shell.run(FileScripts.MOVE, paths.absolute(from), target, replace ? "replace" : "");
    if (!result.succeeded()) {
      throw errors.of("moving", from + " to " + to, result);
    }
  }

  @Override
  public void remove(String path, boolean recursive) {
    String script = recursive ? FileScripts.REMOVE_ALL : FileScripts.REMOVE;
    runScript("removing", path, script, paths.absolute(path));
  }

  @Override
  public void changeMode(String path, int mode) {
    checked(mode);
    runScript(
        "changing the mode of", path, FileScripts.CHANGE_MODE, paths.absolute(path), octal(mode));
  }

  @Override
  public void changeOwner(String path, String owner) {
    String absolute = paths.absolute(path);
    ScriptRunner.ScriptResult result =
        user.isPresent()
            ? shell.run(FileScripts.CHANGE_OWNER, absolute, owner)
            : shell.runAsRoot(FileScripts.CHANGE_OWNER, absolute, owner);
    if (!result.succeeded()) {
      throw errors.of("changing the owner of", path, result);
    }
  }

  @Override
  public void makeLink(String link, String target) {
    if (target.indexOf('\0') >= 0) {
      throw paths.refused("a link target must not contain NUL");
    }
    String absolute = paths.absolute(link);
    createOwned(
        link,
        absolute,
        true,
        () -> runScript("creating the link", link, FileScripts.LINK, absolute, target));
  }

  @Override
  public Map<String, Bytes> attributes(String path) {
    ScriptRunner.ScriptResult result =
        shell.run(FileScripts.ATTRIBUTES, "get", paths.absolute(path));
    if (!result.succeeded()) {
      throw errors.of("reading the attributes of", path, result);
    }
    Map<String, Bytes> attributes = new LinkedHashMap<>();
    result
        .text()
        .lines()
        .map(line -> line.split(" ", 2))
        .filter(pair -> pair.length == 2)
        .forEach(
            pair ->
                attributes.put(
                    new String(HexFormat.of().parseHex(pair[0]), UTF_8),
                    Bytes.of(HexFormat.of().parseHex(pair[1]))));
    return attributes;
  }

  @Override
  public void setAttribute(String path, String name, Bytes value) {
    String hex = HexFormat.of().formatHex(value.toArray());
    String what = "setting an attribute of";
    runScript(what, path, FileScripts.ATTRIBUTES, "set", paths.absolute(path), named(name), hex);
  }

  @Override
  public void removeAttribute(String path, String name) {
    String what = "removing an attribute of";
    runScript(what, path, FileScripts.ATTRIBUTES, "remove", paths.absolute(path), named(name));
  }

  private String named(String attribute) {
    if (attribute.isEmpty() || attribute.indexOf('\0') >= 0) {
      throw paths.refused("invalid attribute name");
    }
    return attribute;
  }

  @Override
  public InputStream exportTree(String path, List<String> excludes) {
    String absolute = paths.absolute(path);
    ScriptRunner.RunningScript tar =
        shell.start(
            FileScripts.PACK,
            context.user(),
            List.of(
                absolute,
                PathResolver.parent(absolute),
                PathResolver.leaf(absolute),
                GlobPatterns.anyOf("./", excludes)),
            Optional.empty());
    return new ScriptOutput(tar, result -> errors.of("packing", path, result));
  }

  @Override
  public TreeSummary importTree(String path, InputStream archive, TreeLimits limits) {
    String absolute = paths.absolute(path);
    makeFolder(path, 0755);
    CheckedArchive checked = new CheckedArchive(archive, limits);
    return staging.with(
        path,
        checked.stream(),
        staged -> {
          ScriptRunner.ScriptResult result = shell.run(FileScripts.UNPACK, staged, absolute);
          if (!result.succeeded()) {
            staging.remove(staged);
            throw errors.of("unpacking into", path, result);
          }
          owner.ifPresent(one -> one.changeOwner(path, absolute));
          return checked.summary();
        });
  }

  private boolean runScript(String what, String path, String script, String... args) {
    ScriptRunner.ScriptResult result = shell.run(script, args);
    if (!result.succeeded()) {
      throw errors.of(what, path, result);
    }
    return true;
  }

  private void checked(int mode) {
    if (mode < 0 || mode > 07777) {
      throw paths.refused("the mode must be 0 to 07777: " + mode);
    }
  }

  /** Formats five digits: with fewer, chmod keeps the set-id bits of a folder. */
  private static String octal(int mode) {
    return String.format(Locale.ROOT, "%05o", mode);
  }
}
