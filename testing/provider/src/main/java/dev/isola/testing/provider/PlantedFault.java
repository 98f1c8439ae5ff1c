package dev.isola.testing.provider;

import java.util.Optional;

/**
 * A bug that can be planted, each one seen in the field. It is chosen by the setting {@code fault}
 * and names the class of checks that must notice it.
 */
public enum PlantedFault {
  /** The inventory goes on showing a sandbox that was destroyed. */
  DESTROY_LEAVES_INVENTORY_ITEM("Lifecycle"),
  /** A failing command looks as if it had succeeded. */
  EXIT_CODE_LOST("Exec"),
  /** The timeout kills the command and forgets what it started. */
  TIMEOUT_SPARES_GRANDCHILDREN("Timeout"),
  /** Output beyond a mebibyte is thrown away, and neither counted nor reported. */
  OUTPUT_CUT_SILENTLY("Output"),
  /** A write goes straight into the file, so a failing one leaves half of it. */
  WRITE_NOT_ATOMIC("Files"),
  /** What the sandbox does not have is read from the host. */
  HOST_FILES_SERVED("FileEscape"),
  /** A name with {@code ..} in an archive is unpacked where it points. */
  ARCHIVE_CLIMBS("Trees"),
  /** A watch does not tell about removals. */
  REMOVALS_UNSEEN("Watch"),
  /** A terminal keeps the size it was opened with. */
  RESIZE_IGNORED("Pty"),
  /** What a slow reader has not fetched is dropped instead of holding the command back. */
  SLOW_READER_LOSES("Streams"),
  /** Attaching replays from the start, whatever offset was asked for. */
  ATTACH_IGNORES_OFFSET("Background"),
  /** A second create of the same id replaces the sandbox. */
  CREATE_REPLACES("Idempotency"),
  /** Closing the provider forgets its sandboxes. */
  CLOSE_FORGETS("Recovery"),
  /** Two creates of one id at once look first and make later, and both furnish the same sandbox. */
  CREATE_RACES("Concurrency"),
  /** A capability is declared and not given. */
  DECLARES_TOO_MUCH("Honesty"),
  /** The size of the disk is declared as enforced and is not. */
  DISK_NOT_ENFORCED("Limits", "diskIsLimited"),
  /** What is written to a file without a name is not counted. */
  UNNAMED_FILES_ARE_FREE("Quota", "openFilesWithoutANameAreLimited"),
  /** The number of processes is declared as enforced and is not. */
  PROCESSES_NOT_ENFORCED("ProcessLimit", "processesAreLimited"),
  /** Memory is declared as limited, and the sandbox cannot read the limit. */
  LIMIT_NOT_VISIBLE("LimitView", "aSandboxReadsItsLimitOfMemory"),
  /** A sandbox with deep folders cannot be destroyed. */
  DEEP_TREES_STAY("HostileTrees"),
  /** A volume is seen where a link in another volume leads, over the agent's files too. */
  VOLUME_FOLLOWS_LINKS("ReservedMounts"),
  /** Commands do not get the secret variables of the spec. */
  SECRET_VARIABLES_LOST("SecretEnv"),
  /** Pausing says that it is done and does nothing. */
  PAUSE_FORGOTTEN("Pausing"),
  /** A restored file is as it was but for its content, which is of the right length and empty. */
  RESTORES_ZEROS("Snapshots"),
  /** A fork shares files that its source goes on writing. */
  FORKS_SEE_LATER_WRITES("Forking"),
  /** A call on a destroyed sandbox fails with whatever exception is at hand. */
  FOREIGN_EXCEPTION("Errors"),
  /** A failing init command is taken for a failure of the provider. */
  INIT_FAILURE_IS_THE_PROVIDERS("Failures"),
  /** A container is declared, and commands run on the host without namespaces. */
  RUNS_ON_THE_BARE_HOST("Escape", "pidNamespaceIsItsOwn"),
  /** A shell text that starts with a dash is taken for an option. */
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

  /** Returns the class of checks that must notice it, as the kit names it. */
  public String group() {
    return group;
  }

  /**
   * Tells whether a check may be run with this fault. A limit or a container that is declared and
   * not there does not protect the machine of the tests, so only one harmless check is run then: no
   * fork bomb, and no loop that fills the disk.
   *
   * @param id of the check, as the kit names it
   */
  public boolean allows(String id) {
    return check.map(name -> id.equals(group + "." + name)).orElse(true);
  }
}
