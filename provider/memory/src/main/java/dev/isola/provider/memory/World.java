package dev.isola.provider.memory;

import dev.isola.spi.InstanceId;
import dev.isola.spi.SandboxId;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The backend: the sandboxes of one instance on one data folder. It outlives the provider that made
 * them, so that the provider can be opened again as another process would.
 */
final class World {
  private record Key(Path data, InstanceId instance) {}

  private static final Map<Key, World> WORLDS = new ConcurrentHashMap<>();

  private final Map<SandboxId, MemorySandbox> sandboxes = new ConcurrentHashMap<>();
  private final Map<SandboxId, ReentrantLock> turns = new ConcurrentHashMap<>();

  static World of(Path data, InstanceId instance) {
    return WORLDS.computeIfAbsent(
        new Key(data.toAbsolutePath().normalize(), instance), key -> new World());
  }

  Map<SandboxId, MemorySandbox> sandboxes() {
    return sandboxes;
  }

  /** Returns the lock that whoever creates or destroys {@code id} holds. */
  ReentrantLock turn(SandboxId id) {
    return turns.computeIfAbsent(id, key -> new ReentrantLock());
  }
}
