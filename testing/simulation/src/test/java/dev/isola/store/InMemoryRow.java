package dev.isola.store;

import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;

/** A row of the table of sandboxes. */
final class InMemoryRow {
  SandboxEntry entry;
  final List<Transition> transitions = new ArrayList<>(0);

  InMemoryRow(SandboxEntry entry) {
    this.entry = entry;
  }

  /** A position in the order of creation. */
  record Position(long createdAt, String id) implements Comparable<Position> {
    static Position of(SandboxEntry entry) {
      return new Position(Micros.of(entry.createdAt()), entry.id().value());
    }

    @Override
    public int compareTo(Position other) {
      int order = Long.compare(createdAt, other.createdAt);
      return order == 0 ? id.compareTo(other.id) : order;
    }
  }

  /** The rows of one owner that are not destroyed, in the order of creation and by due time. */
  static final class Index {
    final TreeMap<Position, InMemoryRow> open = new TreeMap<>();
    final TreeMap<Position, InMemoryRow> due = new TreeMap<>();
  }
}
