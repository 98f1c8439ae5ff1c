package dev.isola.conformance;

import java.util.List;

/**
 * A check class that generates its checks from a list instead of declaring a method for each.
 * Checks run in the order of the list.
 */
public interface CheckSource {
  /**
   * Returns the checks. Their names are as stable as method names.
   *
   * @param group the group of the checks
   */
  List<CheckCase> checks(String group);
}
