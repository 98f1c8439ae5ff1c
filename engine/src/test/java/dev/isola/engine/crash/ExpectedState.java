package dev.isola.engine.crash;

import dev.isola.spi.SandboxState;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** The state that was acknowledged, built only from the output of the children. */
final class ExpectedState {
  /** The progress of a destruction. */
  enum End {
    NONE,
    /**
     * It may have ended: its TTL is short, its destruction has started, or an outage fault removed
     * it.
     */
    POSSIBLE,
    ACKNOWLEDGED
  }

  /** Whether it runs; {@code EITHER} if a crash came between request and response. */
  enum RunState {
    RUNNING,
    PAUSED,
    EITHER
  }

  static final class ExpectedSandbox {
    boolean brief;
    End end = End.NONE;
    RunState pace = RunState.RUNNING;
  }

  final Map<String, ExpectedSandbox> sandboxes = new HashMap<>();
  final Map<String, String> keys = new HashMap<>();

  /** Whether the volume must exist; empty if a crash came before the response. */
  final Map<String, Optional<Boolean>> volumes = new HashMap<>();

  final Set<String> unanswered = new HashSet<>();
  final List<String> broken = new ArrayList<>();

  /** Applies an output line of a child. */
  void apply(String line) {
    String[] words = line.split(" ");
    switch (words[0]) {
      case "ordering" -> unanswered.add(words[1]);
      case "created" -> created(words[1], words[2], words[3].equals(ClientTraffic.BRIEF));
      case "refused" -> unanswered.remove(words[1]);
      case "ending", "lost" -> known(words[1]).end = End.POSSIBLE;
      case "ended" -> known(words[1]).end = End.ACKNOWLEDGED;
      case "pausing" -> known(words[1]).pace = RunState.EITHER;
      case "paused" -> known(words[1]).pace = RunState.PAUSED;
      case "resumed" -> known(words[1]).pace = RunState.RUNNING;
      case "volume-creating", "volume-removing" -> volumes.put(words[1], Optional.empty());
      case "volume-created" -> volumes.put(words[1], Optional.of(true));
      case "volume-removed" -> volumes.put(words[1], Optional.of(false));
      case "trouble" -> broken.add(line);
      case "ready", "failed", "unknown", "finished" -> {}
      default -> throw new IllegalArgumentException(line);
    }
  }

  private void created(String id, String key, boolean brief) {
    ExpectedSandbox known = known(id);
    if (known.end == End.ACKNOWLEDGED) {
      broken.add("sandbox " + id + " was destroyed and is handed out again");
    }
    if (brief) {
      known.brief = true;
      known.end = End.POSSIBLE;
    }
    if (!key.equals("-")) {
      unanswered.remove(key);
      String before = keys.putIfAbsent(key, id);
      if (before != null && !before.equals(id)) {
        broken.add("key " + key + " gave sandbox " + before + " and then " + id);
      }
    }
  }

  /** Settles what a crash left undecided by what is recorded afterwards. */
  void settle(StateDump dump) {
    volumes.replaceAll((name, was) -> Optional.of(dump.volumes.containsKey(name)));
    sandboxes.forEach(
        (id, known) -> {
          StateDump.Entry entry = dump.entries.get(id);
          if (entry == null) {
            return;
          }
          if (entry.state() == SandboxState.DESTROYED) {
            known.end = End.ACKNOWLEDGED;
          } else if (entry.alive()) {
            known.end = known.brief ? End.POSSIBLE : End.NONE;
            known.pace = entry.state() == SandboxState.PAUSED ? RunState.PAUSED : RunState.RUNNING;
          }
        });
  }

  /**
   * Returns the expected sandbox. One that a child adopted is known from its creation, or was never
   * acknowledged.
   */
  private ExpectedSandbox known(String id) {
    return sandboxes.computeIfAbsent(id, any -> new ExpectedSandbox());
  }
}
