package dev.isola.conformance;

import java.util.List;

/**
 * A class of checks that has one for each entry of a list, where others have a method for each. The
 * order is the list's.
 */
public interface CheckSource {
  /**
   * Returns the checks; their names are as stable as names of methods.
   *
   * @param group the subject of the class
   */
  List<CheckCase> checks(String group);
}
