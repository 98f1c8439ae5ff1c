package dev.isola.engine.admission;

import dev.isola.engine.api.Resources;

/**
 * The total resources that can be reserved, and the configuration keys that set them.
 *
 * @param owner the owner of the resources, as shown in messages
 * @param memoryKey the key that bounds the sum of memory limits
 * @param cpuKey the key that bounds the sum of CPU limits
 * @param memoryRemedyKeys the keys that raise the memory capacity, as shown in remedies
 */
public record Capacity(
    Resources resources, String owner, String memoryKey, String cpuKey, String memoryRemedyKeys) {

  /** Returns the capacity that providers share. */
  public static Capacity ofInstallation(Resources resources) {
    return new Capacity(
        resources,
        "this installation",
        "admission.memory_mb",
        "admission.cpu",
        "admission.memory_overcommit or admission.memory_mb");
  }

  /** Returns the dedicated capacity of a provider. */
  public static Capacity ofProvider(String name, Resources resources) {
    String key = "providers." + name + ".capacity_";
    return new Capacity(
        resources, "provider " + name, key + "memory_mb", key + "cpu", key + "memory_mb");
  }
}
