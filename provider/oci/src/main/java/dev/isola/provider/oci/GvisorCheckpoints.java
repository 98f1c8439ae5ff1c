package dev.isola.provider.oci;

import dev.isola.host.launch.Checkpoints;
import dev.isola.host.program.Version;
import dev.isola.spi.SandboxId;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Saves sandboxes of gVisor and restores them.
 *
 * @param version the version of the program
 * @param program the program with its global options
 * @param validates whether it compares the specs of a saved sandbox and a restored one, which have
 *     other users
 */
record GvisorCheckpoints(Version version, List<String> program, boolean validates)
    implements Checkpoints {
  /** Newer releases refuse to restore a sandbox with other users unless this option is given. */
  static final String ANY_SPEC = "--restore-spec-validation=ignore";

  private static final String IMAGE = "--image-path=" + STAGED_MEMORY;

  /** An object that cannot be saved, with the reason. The name of a file is that of the guest. */
  private static final Pattern UNSAVED =
      Pattern.compile("\\b(\\w+)\\(\"([^\"]{0,200})\"\\)\\.beforeSave: ([^:]{1,120})");

  private static final Pattern HOST_SOCKET = Pattern.compile("bound host socket|host UDS");

  @Override
  public String runtime() {
    return "runsc " + version;
  }

  @Override
  public List<String> saveCommand(SandboxId id) {
    List<String> words = new ArrayList<>(program);
    words.addAll(List.of("checkpoint", "--leave-running", "--compression=none", IMAGE, id.value()));
    return words;
  }

  @Override
  public List<String> restoreCommand(List<String> run, String pidFile) {
    int verb = run.indexOf("run");
    List<String> words = new ArrayList<>(run.subList(0, verb));
    if (validates) {
      words.add(ANY_SPEC);
    }
    words.addAll(List.of("restore", "--detach", IMAGE, "--pid-file=" + pidFile));
    words.addAll(run.subList(verb + 2, run.size())); // after --detach
    return words;
  }

  @Override
  public Optional<String> obstacle(String output) {
    Matcher unsaved = UNSAVED.matcher(output);
    if (unsaved.find()) {
      boolean removed = unsaved.group(1).equals("dentry") && unsaved.group(3).contains("deleted");
      return Optional.of(
          removed
              ? "a process has the file /" + unsaved.group(2) + " open, which was removed"
              : unsaved.group(1) + " " + unsaved.group(2) + ": " + unsaved.group(3));
    }
    return HOST_SOCKET.matcher(output).find()
        ? Optional.of("a process is connected to a socket of the host")
        : Optional.empty();
  }
}
