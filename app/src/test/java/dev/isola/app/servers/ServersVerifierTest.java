package dev.isola.app.servers;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.app.servers.Observations.CommandOutput;
import dev.isola.app.servers.Observations.Event;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** Each planted fault is found, so that silence of the verifier means something. */
class ServersVerifierTest {
  private final Map<String, List<String>> created =
      new LinkedHashMap<>(
          Map.of("k1", new ArrayList<>(List.of("a", "a")), "k2", new ArrayList<>(List.of("b"))));
  private final Set<String> destroyed = new LinkedHashSet<>(Set.of("b"));
  private final List<CommandOutput> commands =
      new ArrayList<>(List.of(new CommandOutput("c1", "0123456789", "0123456789")));
  private final List<Event> recorded =
      List.of(
          new Event(1, "created", "a"),
          new Event(2, "created", "b"),
          new Event(4, "destroyed", "b"));
  private final List<Event> reader = new ArrayList<>(recorded);
  private final Map<String, String> states =
      new LinkedHashMap<>(Map.of("a", "running", "b", "destroyed"));
  private final Set<String> ledger = new LinkedHashSet<>(Set.of("a"));
  private final Set<String> machine = new LinkedHashSet<>(Set.of("a"));
  private final Map<String, Integer> starts = new LinkedHashMap<>(Map.of("c1", 1));
  private final Set<String> acknowledged = new LinkedHashSet<>(Set.of("c1"));

  private List<String> verify() {
    return ServersVerifier.verify(
        new Observations(
            created,
            destroyed,
            commands,
            List.of(recorded, reader),
            recorded,
            states,
            ledger,
            machine,
            starts,
            acknowledged));
  }

  private void finds(String problem, Consumer<ServersVerifierTest> fault) {
    assertThat(verify()).isEmpty();
    fault.accept(this);
    assertThat(verify()).anyMatch(one -> one.startsWith(problem));
  }

  @Test
  void aLostSandboxIsFound() {
    finds("lost: a was created", one -> one.states.remove("a"));
  }

  @Test
  void aSandboxThatFailedIsFound() {
    finds("lost: a was created", one -> one.states.put("a", "failed"));
  }

  @Test
  void aResurrectedSandboxIsFound() {
    finds("resurrected: b", one -> one.states.put("b", "running"));
  }

  @Test
  void aSecondSandboxForAKeyIsFound() {
    finds(
        "doubled: idempotency key k1",
        one -> {
          one.created.put("k1", List.of("a", "c"));
          one.states.put("c", "running");
        });
  }

  @Test
  void aSandboxThatNoClientWasToldOfIsFound() {
    finds(
        "doubled: the ledger has z",
        one -> {
          one.ledger.add("z");
          one.machine.add("z");
        });
  }

  @Test
  void aLeakedSandboxIsFound() {
    finds("leaked: the machine has z", one -> one.machine.add("z"));
  }

  @Test
  void aSandboxThatTheMachineLostIsFound() {
    finds("lost: the ledger has a", one -> one.machine.clear());
  }

  @Test
  void aMissingByteOfOutputIsFound() {
    finds(
        "output: c1 differs at byte 4 of 10",
        one -> one.commands.set(0, new CommandOutput("c1", "0123456789", "012356789")));
  }

  @Test
  void aRepeatedByteOfOutputIsFound() {
    finds(
        "output: c1 differs",
        one -> one.commands.set(0, new CommandOutput("c1", "0123456789", "01234556789")));
  }

  @Test
  void aCommandThatRanTwiceIsFound() {
    finds("doubled: the command c1", one -> one.starts.put("c1", 2));
  }

  @Test
  void anAcknowledgedCommandThatDidNotRunIsFound() {
    finds("lost: the command c1", one -> one.starts.clear());
  }

  @Test
  void aMissedEventIsFound() {
    finds("events: a reader missed", one -> one.reader.remove(1));
  }

  @Test
  void aRepeatedEventIsFound() {
    finds("events: reader 1 saw", one -> one.reader.add(2, one.reader.get(1)));
  }

  @Test
  void anEventThatIsNotRecordedIsFound() {
    finds("events: reader 1 saw", one -> one.reader.add(new Event(9, "created", "x")));
  }
}
