package dev.isola.provider.docker;

import dev.isola.spi.InstanceId;
import dev.isola.spi.capability.Volumes;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.spec.VolumeMount;
import java.util.List;

/** The named volumes of an instance in a container engine. */
record EngineVolumes(EngineApi engine, InstanceId instance) implements Volumes {

  /** Returns the prefix of the engine's volume names of an instance. */
  static String prefix(InstanceId instance) {
    return "isola-" + instance + "-";
  }

  @Override
  public void create(String name) {
    engine.createVolume(named(name));
  }

  @Override
  public List<String> list() {
    String prefix = prefix(instance);
    return engine.volumes(prefix).stream()
        .map(name -> name.substring(prefix.length()))
        .filter(VolumeMount::isValidName)
        .sorted()
        .toList();
  }

  @Override
  public void destroy(String name) {
    engine.removeVolume(named(name));
  }

  private String named(String name) {
    if (!VolumeMount.isValidName(name)) {
      throw Fault.of(
              ErrorCode.INVALID_REQUEST,
              "'" + name + "' is not a valid volume name",
              "use at most 128 letters, digits, . _ and -")
          .exception();
    }
    return prefix(instance) + name;
  }
}
