package dev.isola.simulation;

import static dev.isola.simulation.Timeline.MILLISECOND;
import static dev.isola.simulation.Timeline.MINUTE;

import dev.isola.spi.InventoryItem;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** The backend of one provider, such as a cluster. Calls take effect even if the caller crashes. */
final class FakeBackend {
  /** What a caller learns of a create. */
  enum CreateOutcome {
    CREATED,
    FAILED,
    UNKNOWN
  }

  final String name;
  final long memoryMb;
  private final World world;
  private final Map<SandboxId, InventoryItem> sandboxes = new HashMap<>();

  FakeBackend(World world, String name, long memoryMb) {
    this.world = world;
    this.name = name;
    this.memoryMb = memoryMb;
  }

  void create(SimulatedServer caller, SandboxId id, Consumer<CreateOutcome> then) {
    Faults faults = world.scenario.faults();
    double chance = world.random.nextDouble();
    boolean fails = chance < faults.failedCreates();
    boolean unknown = !fails && chance < faults.failedCreates() + faults.unknownCreates();
    boolean effect = !fails && (!unknown || world.random.nextBoolean());
    if (unknown && effect) {
      // The caller gives up before the backend has finished.
      world.timeline.after(world.random.nextLong(MINUTE), () -> add(id));
    }
    caller.deliverAfter(
        world.random.nextLong(300, 1500) * MILLISECOND,
        () -> {
          if (effect && !unknown) {
            add(id);
          }
        },
        () ->
            then.accept(
                fails
                    ? CreateOutcome.FAILED
                    : unknown ? CreateOutcome.UNKNOWN : CreateOutcome.CREATED));
  }

  private void add(SandboxId id) {
    sandboxes.put(
        id,
        new InventoryItem(
            id, SandboxState.RUNNING, Timeline.instant(world.timeline.now()), Map.of()));
    world.monitor.exists(this, id);
  }

  void destroy(SimulatedServer caller, SandboxId id, Consumer<Boolean> then) {
    boolean fails = world.random.nextDouble() < world.scenario.faults().failedDestroys();
    caller.deliverAfter(
        world.random.nextLong(100, 500) * MILLISECOND,
        () -> {
          if (!fails && sandboxes.containsKey(id)) {
            world.monitor.removed(this, id);
            sandboxes.remove(id);
          }
        },
        () -> then.accept(!fails));
  }

  /** Tells a server whether a sandbox exists, as an attach does. */
  void verify(SimulatedServer caller, SandboxId id, Consumer<Boolean> then) {
    boolean[] found = {false};
    caller.deliverAfter(
        world.random.nextLong(20, 200) * MILLISECOND,
        () -> found[0] = sandboxes.containsKey(id),
        () -> then.accept(found[0]));
  }

  /** Ends a sandbox without a server: it fails, or its agent reaches its deadline. */
  void lose(SandboxId id) {
    sandboxes.remove(id);
  }

  boolean has(SandboxId id) {
    return sandboxes.containsKey(id);
  }

  int size() {
    return sandboxes.size();
  }

  List<InventoryItem> inventory() {
    return new ArrayList<>(sandboxes.values());
  }

  Iterable<SandboxId> ids() {
    return sandboxes.keySet();
  }
}
