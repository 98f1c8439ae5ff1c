package dev.isola.engine.crash;

import dev.isola.spi.SandboxState;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** What was acknowledged, as the children said it; it knows nothing else. */
final class ExpectedState {
  /** How far the end of a sandbox has come. */
  enum End {
    NONE,
    /** It may end or have ended: its time is short, its destroy began, or somebody took it. */
    POSSIBLE,
    ACKNOWLEDGED
  }

  /** Whether it runs; {@code EITHER} when a crash came between the wish and the answer. */
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

  /** Whether there is to be a volume of a name; empty where a crash came before the answer. */
  final Map<String, Optional<Boolean>> volumes = new HashMap<>();

  final Set<String> unanswered = new HashSet<>();
  final List<String> broken = new ArrayList<>();

  /** Takes in a line of a child. */
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

  /** Takes what a crash left open as decided by what is written down after it. */
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

  /** What a child adopted is known from its creation, or was never acknowledged to anybody. */
  private ExpectedSandbox known(String id) {
    return sandboxes.computeIfAbsent(id, any -> new ExpectedSandbox());
  }
}
