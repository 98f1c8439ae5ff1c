package dev.isola.store;

import java.util.List;
import java.util.Optional;

/** The volumes of the ledger. */
public interface VolumeEntries {

  /** Inserts a volume. Returns false and writes nothing if its name is taken. */
  boolean insert(VolumeEntry entry);

  Optional<VolumeEntry> find(String id);

  Optional<VolumeEntry> findByName(String name);

  /** Returns the volumes of all tenants, sorted by name. */
  List<VolumeEntry> all();

  /** Updates the provider and the state. Returns false if the volume does not exist. */
  boolean update(VolumeEntry entry);

  /** Returns whether the volume existed. */
  boolean remove(String id);
}
