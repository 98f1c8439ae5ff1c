package dev.isola.provider.e2b.file;

import dev.isola.provider.e2b.exec.ScriptRunner;
import dev.isola.spi.error.SandboxException;
import java.util.function.Supplier;

/** The owner of files that root creates. */
record FileOwner(ScriptRunner shell, FileErrors errors, String owner) {

  /**
   * Creates a file or folder and changes its owner, including that of missing parent folders.
   *
   * @param keep whether an existing file keeps its owner
   */
  <T> T createOwned(String path, String absolute, boolean keep, Supplier<T> making) {
    ScriptRunner.ScriptResult missing =
        shell.run(FileScripts.MISSING, absolute, owner.split(":", 2)[0]);
    if (!missing.succeeded()) {
      throw failure(path, missing);
    }
    T result = making.get();
    String made = missing.text().isEmpty() && !keep ? absolute : missing.text();
    if (!made.isEmpty()) {
      changeOwner(path, made);
    }
    return result;
  }

  void changeOwner(String path, String absolute) {
    String both =
        owner.contains(":") ? owner : owner + ":" + (owner.matches("[0-9]+") ? owner : "");
    ScriptRunner.ScriptResult output = shell.run(FileScripts.GIVE, absolute, both);
    if (!output.succeeded()) {
      throw failure(path, output);
    }
  }

  private SandboxException failure(String path, ScriptRunner.ScriptResult output) {
    return errors.of("changing the owner to " + owner, path, output);
  }
}
