package dev.isola.store;

import java.util.List;
import java.util.Optional;

/** The templates of the ledger, and their builds. */
public interface TemplateEntries {

  /** Writes a new template; returns false, and writes nothing, when there is one with its id. */
  boolean insert(TemplateEntry entry);

  Optional<TemplateEntry> find(String id);

  /** Returns all templates, by age. */
  List<TemplateEntry> all();

  /** Writes over what is there; returns false when there is no such template. */
  boolean update(TemplateEntry entry);

  /** Removes a template with its builds; returns whether there was one. */
  boolean remove(String id);

  /** Writes a new build; returns false, and writes nothing, when there is one with its id. */
  boolean insert(BuildEntry entry);

  Optional<BuildEntry> build(String id);

  /** Returns the builds of a template, oldest first. */
  List<BuildEntry> builds(String template);

  /** Returns the builds of all templates, oldest first. */
  List<BuildEntry> builds();

  /** Writes over what is there; returns false when there is no such build. */
  boolean update(BuildEntry entry);

  /** Returns whether there was one. */
  boolean removeBuild(String id);
}
