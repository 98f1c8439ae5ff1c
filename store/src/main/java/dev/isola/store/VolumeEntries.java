package dev.isola.store;

import java.util.List;
import java.util.Optional;

/** The volumes of the ledger. */
public interface VolumeEntries {

  /** Writes a new volume; returns false, and writes nothing, when its name is taken. */
  boolean insert(VolumeEntry entry);

  Optional<VolumeEntry> find(String id);

  Optional<VolumeEntry> findByName(String name);

  /** Returns the volumes of all tenants, by name. */
  List<VolumeEntry> all();

  /** Writes provider and state over what is there; returns false when there is no such volume. */
  boolean update(VolumeEntry entry);

  /** Returns whether there was one. */
  boolean remove(String id);
}
