package dev.isola.provider.memory.shell;

import dev.isola.provider.memory.file.Tree;
import dev.isola.provider.memory.process.OpenFile;
import dev.isola.provider.memory.process.Proc;
import dev.isola.spi.error.SandboxException;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;

/** Redirections in force; closing puts back what was there before. */
final class Redirections implements AutoCloseable {
  private record Saved(int descriptor, Optional<OpenFile> file) {}

  private final Proc proc;
  private final Deque<Saved> saved = new ArrayDeque<>();

  private Redirections(Proc proc) {
    this.proc = proc;
  }

  static Redirections apply(Shell shell, List<Ast.Redirection> wanted)
      throws IOException, InterruptedException {
    Redirections redirections = new Redirections(shell.proc());
    try {
      for (Ast.Redirection redirection : wanted) {
        redirections.apply(shell, redirection);
      }
      return redirections;
    } catch (IOException e) {
      redirections.close();
      throw e;
    }
  }

  private void apply(Shell shell, Ast.Redirection wanted) throws IOException, InterruptedException {
    String target = shell.expander().one(wanted.target());
    if (wanted.operator().endsWith("&")) {
      duplicate(wanted.descriptor(), target);
      return;
    }
    OpenFile file;
    try {
      String path = Tree.absolute(proc.folder(), Raw.text(target));
      file =
          wanted.operator().equals("<")
              ? OpenFiles.forReading(proc, path)
              : OpenFiles.forWriting(proc, path, wanted.operator().equals(">>"));
    } catch (SandboxException e) {
      throw new IOException("can't open " + target + ": " + Call.reason(e), e);
    }
    put(wanted.descriptor(), file);
  }

  private void duplicate(int descriptor, String target) throws IOException {
    if (target.equals("-")) {
      save(descriptor);
      proc.closeDescriptor(descriptor);
      return;
    }
    if (target.length() != 1 || !Character.isDigit(target.charAt(0))) {
      throw new IOException("Bad fd number: " + target);
    }
    OpenFile file =
        proc.descriptor(Integer.parseInt(target))
            .orElseThrow(() -> new IOException(target + ": Bad file descriptor"));
    put(descriptor, file.retain());
  }

  private void save(int descriptor) {
    saved.push(new Saved(descriptor, proc.descriptor(descriptor).map(OpenFile::retain)));
  }

  private void put(int descriptor, OpenFile file) {
    save(descriptor);
    proc.descriptor(descriptor, file);
  }

  /** Makes them last: what was there before is let go. */
  void keep() {
    saved.forEach(before -> before.file().ifPresent(OpenFile::release));
    saved.clear();
  }

  @Override
  public void close() {
    while (!saved.isEmpty()) {
      Saved before = saved.pop();
      before
          .file()
          .ifPresentOrElse(
              file -> proc.descriptor(before.descriptor(), file),
              () -> proc.closeDescriptor(before.descriptor()));
    }
  }
}
