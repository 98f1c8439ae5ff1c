package dev.isola.engine.crash;

import dev.isola.spi.SandboxState;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/** The ledger and the inventories as reported by a child. */
final class StateDump {
  /**
   * @param young whether the reporting process is creating it
   */
  record Entry(SandboxState state, String provider, boolean young, String key) {
    boolean alive() {
      return state == SandboxState.RUNNING
          || state == SandboxState.PAUSED
          || state == SandboxState.STOPPED;
    }
  }

  final Map<String, Entry> entries = new HashMap<>();
  final Map<String, String> seen = new HashMap<>();
  final Set<String> unseen = new HashSet<>();

  /** The running sandboxes whose startup has not succeeded. */
  final Set<String> unready = new HashSet<>();

  final Map<String, String> volumes = new HashMap<>();
  final Set<String> volumesSeen = new HashSet<>();

  /** The unfinished builds, and the sandboxes of builds. */
  final Set<String> buildRemains = new HashSet<>();

  /** The images of templates. */
  final Set<String> templateImages = new HashSet<>();

  /** The images that builds created. */
  final Set<String> imagesSeen = new HashSet<>();

  /** Returns whether a line belongs to a dump. */
  static boolean isOf(String line) {
    return line.startsWith("entry ")
        || line.startsWith("seen ")
        || line.startsWith("unseen ")
        || line.startsWith("unready ")
        || line.startsWith("volume-entry ")
        || line.startsWith("volume-seen ")
        || line.startsWith("build-remains ")
        || line.startsWith("template-image ")
        || line.startsWith("image-seen ")
        || line.equals("dumped");
  }

  void parse(String line) {
    String[] words = line.split(" ");
    switch (words[0]) {
      case "entry" ->
          entries.put(
              words[1],
              new Entry(
                  SandboxState.valueOf(words[2]), words[3], words[4].equals("young"), words[5]));
      case "seen" -> seen.put(words[1], words[2]);
      case "volume-entry" -> volumes.put(words[1], words[2]);
      case "volume-seen" -> volumesSeen.add(words[1]);
      case "build-remains" -> buildRemains.add(words[1]);
      case "template-image" -> templateImages.add(words[1]);
      case "image-seen" -> imagesSeen.add(words[1]);
      case "unseen" -> unseen.add(words[1]);
      case "unready" -> unready.add(words[1]);
      default -> throw new IllegalArgumentException(line);
    }
  }
}
