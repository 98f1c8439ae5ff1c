package dev.isola.app.servers;

import dev.isola.app.servers.Observations.CommandOutput;
import dev.isola.app.servers.Observations.Event;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Compares what clients were promised with what they found. */
final class ServersVerifier {
  private final List<String> problems = new ArrayList<>();

  private ServersVerifier() {}

  /** Returns one sentence for each broken promise. */
  static List<String> verify(Observations seen) {
    ServersVerifier verifier = new ServersVerifier();
    verifier.sandboxes(seen);
    verifier.unknown(seen);
    verifier.machine(seen);
    verifier.commands(seen);
    verifier.events(seen);
    return verifier.problems;
  }

  private void sandboxes(Observations seen) {
    for (Map.Entry<String, List<String>> one : seen.created().entrySet()) {
      Set<String> ids = new HashSet<>(one.getValue());
      if (ids.size() > 1) {
        problems.add("doubled: idempotency key " + one.getKey() + " created " + ids);
      }
      for (String id : ids) {
        String state = seen.states().getOrDefault(id, "absent");
        boolean ended = state.equals("destroyed") || state.equals("absent");
        if (seen.destroyed().contains(id) && !ended) {
          problems.add("resurrected: " + id + " was destroyed and is " + state);
        }
        if (!seen.destroyed().contains(id) && !state.equals("running")) {
          problems.add("lost: " + id + " was created and is " + state);
        }
      }
    }
  }

  private void unknown(Observations seen) {
    Set<String> acknowledged = new HashSet<>();
    seen.created().values().forEach(acknowledged::addAll);
    for (String id : seen.ledger()) {
      if (!acknowledged.contains(id)) {
        problems.add("doubled: the ledger has " + id + ", which no client was told of");
      }
    }
  }

  private void machine(Observations seen) {
    for (String id : seen.machine()) {
      if (!seen.ledger().contains(id)) {
        problems.add("leaked: the machine has " + id + ", and the ledger does not");
      }
    }
    for (String id : seen.ledger()) {
      if (!seen.machine().contains(id)) {
        problems.add("lost: the ledger has " + id + ", and the machine does not");
      }
    }
  }

  private void commands(Observations seen) {
    for (CommandOutput one : seen.commands()) {
      if (!one.expected().equals(one.actual())) {
        problems.add(
            "output: "
                + one.name()
                + " differs at byte "
                + firstDifference(one.expected(), one.actual())
                + " of "
                + one.expected().length());
      }
    }
    seen.starts()
        .forEach(
            (word, count) -> {
              if (count > 1) {
                problems.add("doubled: the command " + word + " started " + count + " times");
              }
            });
    for (String word : seen.acknowledgedStarts()) {
      if (seen.starts().getOrDefault(word, 0) == 0) {
        problems.add("lost: the command " + word + " was acknowledged and did not start");
      }
    }
  }

  private static int firstDifference(String one, String other) {
    int at = 0;
    while (at < one.length() && at < other.length() && one.charAt(at) == other.charAt(at)) {
      at++;
    }
    return at;
  }

  private void events(Observations seen) {
    for (int reader = 0; reader < seen.events().size(); reader++) {
      List<Event> feed = seen.events().get(reader);
      for (int i = 1; i < feed.size(); i++) {
        if (feed.get(i).number() <= feed.get(i - 1).number()) {
          problems.add("events: reader " + reader + " saw " + feed.get(i) + " again or too late");
        }
      }
      Set<Event> got = new HashSet<>(feed);
      seen.recorded().stream()
          .filter(event -> !got.contains(event))
          .limit(3)
          .forEach(event -> problems.add("events: a reader missed " + event));
      Set<Event> all = new HashSet<>(seen.recorded());
      for (Event event : feed) {
        if (!all.contains(event)) {
          problems.add("events: reader " + reader + " saw " + event + ", which is not recorded");
        }
      }
    }
  }
}
