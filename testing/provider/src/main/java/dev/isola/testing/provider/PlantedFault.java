package dev.isola.testing.provider;

import java.util.Optional;

/**
 * A bug to plant in the test provider. Each was found in a real system. The setting {@code fault}
 * selects it, and it names the group of checks that must detect it.
 */
public enum PlantedFault {
  /** The inventory still lists a destroyed sandbox. */
  DESTROY_LEAVES_INVENTORY_ITEM("Lifecycle"),
  /** A failed command is reported as successful. */
  EXIT_CODE_LOST("Exec"),
  /** The timeout kills the command but not its descendants. */
  TIMEOUT_SPARES_GRANDCHILDREN("Timeout"),
  /** Output beyond one MiB is dropped, neither counted nor reported. */
  OUTPUT_CUT_SILENTLY("Output"),
  /** A write modifies the file in place, so a failed write leaves it incomplete. */
  WRITE_NOT_ATOMIC("Files"),
  /** Files missing in the sandbox are read from the host. */
  HOST_FILES_SERVED("FileEscape"),
  /** An archive entry with {@code ..} in its name is extracted to where it points. */
  ARCHIVE_CLIMBS("Trees"),
  /** A watch does not report removals. */
  REMOVALS_UNSEEN("Watch"),
  /** A terminal ignores resizes. */
  RESIZE_IGNORED("Pty"),
  /** Output is dropped for a slow reader, instead of blocking the command. */
  SLOW_READER_LOSES("Streams"),
  /** Attaching ignores the offset and replays from the start. */
  ATTACH_IGNORES_OFFSET("Background"),
  /** A second create with the same id replaces the sandbox. */
  CREATE_REPLACES("Idempotency"),
  /** Closing the provider forgets its sandboxes. */
  CLOSE_FORGETS("Recovery"),
  /** Concurrent creates with the same id both initialize the sandbox. */
  CREATE_RACES("Concurrency"),
  /** A capability is declared but not implemented. */
  DECLARES_TOO_MUCH("Honesty"),
  /** The disk limit is declared as enforced but is not. */
  DISK_NOT_ENFORCED("Limits", "diskIsLimited"),
  /** Unlinked open files do not count towards the disk limit. */
  UNNAMED_FILES_ARE_FREE("Quota", "unlinkedOpenFilesAreLimited"),
  /** The process limit is declared as enforced but is not. */
  PROCESSES_NOT_ENFORCED("ProcessLimit", "processesAreLimited"),
  /** The memory limit is declared as enforced, but the sandbox cannot read it. */
  LIMIT_NOT_VISIBLE("LimitView", "memoryLimitIsVisible"),
  /** A sandbox with deeply nested folders cannot be destroyed. */
  DEEP_TREES_STAY("HostileTrees"),
  /**
   * A volume mounted on a link in another volume appears at the target of the link, even over the
   * agent's files.
   */
  VOLUME_FOLLOWS_LINKS("ReservedMounts"),
  /** Commands do not receive the secret variables of the spec. */
  SECRET_VARIABLES_LOST("SecretEnv"),
  /** Pausing reports success and does nothing. */
  PAUSE_FORGOTTEN("Pausing"),
  /** Restored files have the right size but contain only zeros. */
  RESTORES_ZEROS("Snapshots"),
  /** A fork sees later writes of its source. */
  FORKS_SEE_LATER_WRITES("Forking"),
  /** A call on a destroyed sandbox throws an exception that is not part of the contract. */
  FOREIGN_EXCEPTION("Errors"),
  /** A failed init command is reported as a failure of the provider. */
  INIT_FAILURE_IS_THE_PROVIDERS("Failures"),
  /** Container isolation is declared, but commands run on the host without namespaces. */
  RUNS_ON_THE_BARE_HOST("Escape", "pidNamespaceIsItsOwn"),
  /** A shell script that starts with a dash is parsed as an option. */
  DASH_IS_AN_OPTION("Regressions");

  private final String group;
  private final Optional<String> check;

  PlantedFault(String group) {
    this.group = group;
    this.check = Optional.empty();
  }

  PlantedFault(String group, String check) {
    this.group = group;
    this.check = Optional.of(check);
  }

  /** Returns the group of checks that must detect the fault. */
  public String group() {
    return group;
  }

  /**
   * Returns whether a check may run with this fault. If a limit or isolation is declared but
   * missing, nothing protects the test machine, so only one harmless check runs: no fork bomb, and
   * no loop that fills the disk.
   *
   * @param id the id of the check
   */
  public boolean allows(String id) {
    return check.map(name -> id.equals(group + "." + name)).orElse(true);
  }
}
