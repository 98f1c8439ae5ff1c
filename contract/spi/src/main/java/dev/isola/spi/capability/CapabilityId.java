package dev.isola.spi.capability;

import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The ids of the capabilities. Specs, ledgers and clients store them, so an id never changes, even
 * when its interface is renamed.
 */
enum CapabilityId {
  ATTACHING("attaching", Attaching.class),
  TERMINALS("terminals", Terminals.class),
  WATCHING("watching", Watching.class),
  PORT_DIALING("port-dialing", PortDialing.class),
  USAGE_REPORTING("usage-reporting", UsageReporting.class),
  PAUSING("pausing", Pausing.class),
  RENEWING("renewing", Renewing.class),
  SNAPSHOTTING("snapshotting", Snapshotting.class),
  FORKING("forking", Forking.class),
  MEMORY_FORKING("memory-forking", MemoryForking.class),
  VOLUMES("volumes", Volumes.class);

  static final List<Class<? extends Capability>> ALL =
      Stream.of(values()).<Class<? extends Capability>>map(one -> one.type).toList();

  final String id;
  final Class<? extends Capability> type;

  CapabilityId(String id, Class<? extends Capability> type) {
    this.id = id;
    this.type = type;
  }

  static CapabilityId of(Class<? extends Capability> type) {
    return Stream.of(values())
        .filter(one -> one.type.equals(type))
        .findFirst()
        .orElseThrow(() -> new IllegalArgumentException(type + " is not a capability"));
  }

  static Optional<CapabilityId> find(String id) {
    return Stream.of(values()).filter(one -> one.id.equals(id)).findFirst();
  }
}
