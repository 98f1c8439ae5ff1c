package dev.isola.engine.crash;

import dev.isola.conformance.leak.TrackedResource;
import dev.isola.spi.SandboxState;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The invariants after each recovery. Pure. */
final class Invariants {
  private static final Pattern ID = Pattern.compile("(?<![a-z0-9])[a-z0-9]{20}(?![a-z0-9])");

  private final ExpectedState model;
  private final StateDump dump;

  private Invariants(ExpectedState model, StateDump dump) {
    this.model = model;
    this.dump = dump;
  }

  /** Returns the violations that cannot resolve themselves. */
  static List<String> lasting(ExpectedState model, StateDump dump) {
    List<String> broken = new ArrayList<>(model.broken);
    Invariants now = new Invariants(model, dump);
    model.sandboxes.forEach((id, known) -> now.record(id, known, broken));
    now.keys(broken);
    dump.unready.forEach(id -> broken.add("sandbox " + id + " runs without its startup"));
    model.volumes.forEach(
        (name, there) ->
            there
                .filter(wanted -> wanted != dump.volumes.containsKey(name))
                .ifPresent(
                    wanted ->
                        broken.add(
                            "volume "
                                + name
                                + (wanted ? " was created" : " was removed")
                                + " and is "
                                + dump.volumes.getOrDefault(name, "not there"))));
    return broken;
  }

  /** Returns the violations that may be pending work; a later check must not find them. */
  static List<String> passing(ExpectedState model, StateDump dump, List<TrackedResource> things) {
    List<String> broken = new ArrayList<>();
    Invariants now = new Invariants(model, dump);
    model.sandboxes.forEach((id, known) -> now.pace(id, known, broken));
    dump.entries.forEach((id, entry) -> now.entry(id, entry, broken));
    dump.seen.forEach((id, provider) -> now.item(id, provider, broken));
    things.forEach(thing -> now.thing(thing, broken));
    now.volumes(broken);
    now.templates(broken);
    return broken;
  }

  private void record(String id, ExpectedState.ExpectedSandbox known, List<String> broken) {
    StateDump.Entry entry = dump.entries.get(id);
    if (entry == null) {
      broken.add("sandbox " + id + " was acknowledged and is not written down");
      return;
    }
    switch (known.end) {
      case ACKNOWLEDGED -> {
        if (entry.state() != SandboxState.DESTROYED) {
          broken.add("sandbox " + id + " was destroyed and is " + entry.state());
        }
      }
      case NONE -> {
        if (!entry.alive()) {
          broken.add("sandbox " + id + " was acknowledged and is " + entry.state());
        }
      }
      case POSSIBLE -> {}
    }
  }

  private void templates(List<String> broken) {
    dump.buildRemains.forEach(one -> broken.add("a build was left half done: " + one));
    for (String image : dump.templateImages) {
      if (!dump.imagesSeen.contains(image)) {
        broken.add("a template has the image " + image + ", which is not there");
      }
    }
    for (String image : dump.imagesSeen) {
      if (!dump.templateImages.contains(image)) {
        broken.add("the image " + image + " of a build is left and no template has it");
      }
    }
  }

  private void volumes(List<String> broken) {
    dump.volumes.forEach(
        (name, state) -> {
          if (!state.equals("available")) {
            broken.add("volume " + name + " was left half done: " + state);
          } else if (!dump.volumesSeen.contains(name)) {
            broken.add("volume " + name + " is written down and not at its provider");
          }
        });
    for (String name : dump.volumesSeen) {
      if (!dump.volumes.containsKey(name)) {
        broken.add("volume " + name + " is at its provider and not written down");
      }
    }
  }

  private void keys(List<String> broken) {
    Map<String, String> found = new HashMap<>();
    dump.entries.forEach(
        (id, entry) -> {
          if (!entry.key().equals("-")) {
            String other = found.put(entry.key(), id);
            if (other != null) {
              broken.add("key " + entry.key() + " has two sandboxes, " + other + " and " + id);
            }
          }
        });
    model.keys.forEach(
        (key, id) -> {
          if (!id.equals(found.get(key))) {
            broken.add(
                "key " + key + " was answered with " + id + ", written is " + found.get(key));
          }
        });
  }

  private void pace(String id, ExpectedState.ExpectedSandbox known, List<String> broken) {
    StateDump.Entry entry = dump.entries.get(id);
    if (entry == null || known.end != ExpectedState.End.NONE) {
      return;
    }
    boolean right =
        switch (known.pace) {
          case RUNNING -> entry.state() == SandboxState.RUNNING;
          case PAUSED -> entry.state() == SandboxState.PAUSED;
          case EITHER -> true;
        };
    if (!right) {
      broken.add("sandbox " + id + " is to be " + known.pace + " and is " + entry.state());
    }
  }

  private void entry(String id, StateDump.Entry entry, List<String> broken) {
    switch (entry.state()) {
      case CREATING, ERROR, TERMINATING -> {
        if (!entry.young()) {
          broken.add(
              "sandbox "
                  + id
                  + " was left half done: "
                  + entry.state()
                  + " by "
                  + entry.provider());
        }
      }
      case RUNNING, PAUSED, STOPPED -> {
        boolean requested = !dump.unseen.contains(entry.provider());
        if (requested && !entry.provider().equals(dump.seen.get(id))) {
          broken.add("sandbox " + id + " is written down and " + entry.provider() + " has it not");
        }
      }
      case DESTROYED -> {}
    }
  }

  private void item(String id, String provider, List<String> broken) {
    StateDump.Entry entry = dump.entries.get(id);
    if (entry == null || entry.state() == SandboxState.DESTROYED) {
      broken.add("sandbox " + id + " is at " + provider + " and not written down");
    }
  }

  /**
   * Returns whether a resource belongs, by its name, to a recorded sandbox that is not destroyed.
   */
  private void thing(TrackedResource thing, List<String> broken) {
    if (thing.kind() == TrackedResource.Kind.NETWORK_NAMESPACE) {
      return; // named after its processes, which are checked separately
    }
    Matcher ids = ID.matcher(thing.description());
    boolean owned = false;
    while (ids.find()) {
      StateDump.Entry entry = dump.entries.get(ids.group());
      owned |= entry != null && entry.state() != SandboxState.DESTROYED;
    }
    if (!owned) {
      broken.add("leaked: " + thing.description());
    }
  }
}
