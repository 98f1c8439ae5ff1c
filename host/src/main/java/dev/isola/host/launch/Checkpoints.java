package dev.isola.host.launch;

import dev.isola.link.local.SandboxFolder;
import dev.isola.spi.SandboxId;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * How a runtime saves a running sandbox and restores it as another one. The runtime's state is kept
 * in a folder of the sandbox, which is next to its root when the runtime is called. An interface,
 * because the one runtime that can do this, gVisor's, belongs to a provider.
 */
public interface Checkpoints {
  /** Where the launcher provides the folder with the saved processes. */
  String STAGED_MEMORY = "/tmp/memory";

  /** Returns the folder with the runtime's state of a sandbox. */
  static Path state(SandboxFolder folder) {
    return folder.path().resolve("state");
  }

  /** Names the runtime with its version: sandboxes saved by another cannot be restored. */
  String runtime();

  /** Returns the command line that saves a sandbox and lets it continue. */
  List<String> saveCommand(SandboxId id);

  /**
   * Returns the command line that restores a sandbox and exits when it runs.
   *
   * @param run the command line that would boot it
   * @param pidFile receives the pid of the sandbox
   */
  List<String> restoreCommand(List<String> run, String pidFile);

  /**
   * Returns what the runtime could not save, according to its output; empty if it failed for
   * another reason.
   */
  Optional<String> obstacle(String output);
}
