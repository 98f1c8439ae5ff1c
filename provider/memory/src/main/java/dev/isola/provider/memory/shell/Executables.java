package dev.isola.provider.memory.shell;

import dev.isola.provider.memory.file.OpenContent;
import dev.isola.provider.memory.file.Tree;
import dev.isola.provider.memory.process.Body;
import dev.isola.provider.memory.process.BrokenPipe;
import dev.isola.provider.memory.process.Proc;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.file.FileInfo;
import dev.isola.spi.file.FileType;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** Finds and runs programs. In the tree a program is a small file that names it. */
public final class Executables {
  public static final String PATH = "/usr/local/bin:/usr/bin:/bin";

  private static final String MAGIC = "\u007fprogram ";

  private Executables() {}

  /** Puts every program there is into {@code /bin}. */
  public static void install(Tree tree) {
    for (String name : Programs.names()) {
      byte[] content = (MAGIC + name + "\n").getBytes(StandardCharsets.ISO_8859_1);
      tree.openForWriting("/bin/" + name, true, true, 0755).write(0, content, 0, content.length);
    }
  }

  /**
   * Returns what runs {@code words}, found from {@code folder}.
   *
   * @throws dev.isola.spi.error.InvalidRequest with {@code COMMAND_NOT_FOUND} or {@code
   *     COMMAND_NOT_EXECUTABLE}
   */
  public static Body body(Tree tree, String folder, List<String> words, Map<String, String> env) {
    List<String> raw = words.stream().map(Raw::of).toList();
    Map<String, String> rawEnv = new TreeMap<>();
    env.forEach((name, value) -> rawEnv.put(Raw.of(name), Raw.of(value)));
    String path = require(tree, folder, raw.getFirst(), rawEnv.getOrDefault("PATH", PATH));
    return self -> run(self, path, raw, rawEnv);
  }

  static String require(Tree tree, String folder, String name, String searched) {
    boolean there = false;
    for (String candidate : candidates(folder, name, searched)) {
      Optional<FileInfo> found = found(tree, candidate);
      there |= found.isPresent();
      if (found.isPresent()
          && found.get().type() == FileType.FILE
          && (found.get().mode() & 0111) != 0) {
        return found.get().path();
      }
    }
    throw Fault.of(
            there ? ErrorCode.COMMAND_NOT_EXECUTABLE : ErrorCode.COMMAND_NOT_FOUND,
            there ? Raw.text(name) + " is not executable" : "there is no program " + Raw.text(name),
            there
                ? "make it executable (chmod +x)"
                : "check the name and PATH; this is a simulation")
        .with("program", Raw.text(name))
        .exception();
  }

  private static Optional<FileInfo> found(Tree tree, String path) {
    try {
      return tree.find(path, true);
    } catch (SandboxException notThere) {
      return Optional.empty();
    }
  }

  private static List<String> candidates(String folder, String name, String searched) {
    if (name.indexOf('/') >= 0) {
      return List.of(Tree.absolute(folder, Raw.text(name)));
    }
    List<String> candidates = new ArrayList<>();
    for (String part : searched.split(":")) {
      if (!name.isEmpty()) {
        candidates.add(Tree.absolute(folder, Raw.text((part.isEmpty() ? "." : part) + "/" + name)));
      }
    }
    return candidates;
  }

  static Optional<String> find(Proc proc, String name, String searched) {
    try {
      return Optional.of(Raw.of(require(proc.tree(), proc.folder(), name, searched)));
    } catch (SandboxException e) {
      return Optional.empty();
    }
  }

  /** Runs a program as the shell does: what cannot be run is said, with 126 or 127. */
  static int runFromShell(Shell shell, List<String> words, Map<String, String> env)
      throws IOException, InterruptedException {
    Proc proc = shell.proc();
    String path;
    try {
      path = require(proc.tree(), proc.folder(), words.getFirst(), env.getOrDefault("PATH", PATH));
    } catch (SandboxException e) {
      boolean missing = e.code() == ErrorCode.COMMAND_NOT_FOUND;
      shell.complain(words.getFirst() + ": " + (missing ? "not found" : "Permission denied"));
      return missing ? 127 : 126;
    }
    return run(proc, path, words, env);
  }

  private static int run(Proc proc, String path, List<String> words, Map<String, String> env)
      throws IOException, InterruptedException {
    String content = content(proc, path);
    if (!content.startsWith(MAGIC)) {
      List<String> script = new ArrayList<>(List.of("sh", Raw.of(path)));
      script.addAll(words.subList(1, words.size()));
      return Programs.named("sh").run(new Call(proc, script, env));
    }
    Call call = new Call(proc, words, env);
    try {
      return Programs.named(content.substring(MAGIC.length()).strip()).run(call);
    } catch (SandboxException e) {
      return call.complain(Call.reason(e));
    } catch (BrokenPipe e) {
      throw e;
    } catch (IOException e) {
      return call.complain(String.valueOf(e.getMessage()));
    }
  }

  /** Returns a file of at most a mebibyte, as text of the shell. */
  static String content(Proc proc, String path) {
    OpenContent file = proc.tree().open(path);
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    byte[] buffer = new byte[8192];
    for (int n = file.read(0, buffer, 0, buffer.length);
        n > 0 && all.size() < 1 << 20;
        n = file.read(all.size(), buffer, 0, buffer.length)) {
      all.write(buffer, 0, n);
    }
    return all.toString(StandardCharsets.ISO_8859_1);
  }
}
