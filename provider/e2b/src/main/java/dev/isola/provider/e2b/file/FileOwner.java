package dev.isola.provider.e2b.file;

import dev.isola.provider.e2b.exec.Shell;
import dev.isola.spi.error.SandboxException;
import java.util.function.Supplier;

/** The user that owns what root creates for it. */
record FileOwner(Shell shell, Errors errors, String owner) {

  /**
   * Creates something and gives it to the owner, with the folders that had to be created for it.
   *
   * @param keep whether what was there before keeps its owner
   */
  <T> T made(String path, String absolute, boolean keep, Supplier<T> making) {
    Shell.Said missing = shell.run(Scripts.MISSING, absolute, owner.split(":", 2)[0]);
    if (!missing.good()) {
      throw failure(path, missing);
    }
    T result = making.get();
    String made = missing.text().isEmpty() && !keep ? absolute : missing.text();
    if (!made.isEmpty()) {
      give(path, made);
    }
    return result;
  }

  void give(String path, String absolute) {
    String both =
        owner.contains(":") ? owner : owner + ":" + (owner.matches("[0-9]+") ? owner : "");
    Shell.Said said = shell.run(Scripts.GIVE, absolute, both);
    if (!said.good()) {
      throw failure(path, said);
    }
  }

  private SandboxException failure(String path, Shell.Said said) {
    return errors.of("giving " + owner, path, said);
  }
}
