package dev.isola.engine.admission;

/**
 * What may be promised to sandboxes together, and by which keys of the configuration an operator
 * changes it.
 *
 * @param holder what has the resources, in words
 * @param memoryKey the key of the sum of memory limits
 * @param cpuKey the key of the sum of processors
 * @param moreMemory the keys that let more memory be promised
 */
public record Capacity(
    Resources resources, String owner, String memoryKey, String cpuKey, String memoryRemedyKeys) {

  /** Returns the capacity that all providers share. */
  public static Capacity ofInstallation(Resources resources) {
    return new Capacity(
        resources,
        "this installation",
        "admission.memory_mb",
        "admission.cpu",
        "admission.memory_overcommit or admission.memory_mb");
  }

  /** Returns the capacity that one provider has for itself. */
  public static Capacity ofProvider(String name, Resources resources) {
    String key = "providers." + name + ".capacity_";
    return new Capacity(
        resources, "provider " + name, key + "memory_mb", key + "cpu", key + "memory_mb");
  }
}
