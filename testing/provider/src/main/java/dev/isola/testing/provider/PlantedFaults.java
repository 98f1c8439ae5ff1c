package dev.isola.testing.provider;

import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.provider.ProviderConfig;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Set;

/** The faults planted in one provider, usually none. */
public record PlantedFaults(Set<PlantedFault> planted) {
  /** The setting that lists the faults, separated by commas. */
  public static final String SETTING = "fault";

  public static final PlantedFaults NONE = new PlantedFaults(Set.of());

  public PlantedFaults {
    planted = Set.copyOf(planted);
  }

  public static PlantedFaults from(ProviderConfig config) {
    Set<PlantedFault> planted = EnumSet.noneOf(PlantedFault.class);
    for (String name : config.get(SETTING).orElse("").split(",")) {
      if (!name.isBlank()) {
        planted.add(named(name.strip()));
      }
    }
    return new PlantedFaults(planted);
  }

  private static PlantedFault named(String name) {
    return Arrays.stream(PlantedFault.values())
        .filter(fault -> fault.name().equals(name))
        .findFirst()
        .orElseThrow(
            () ->
                Fault.of(
                        ErrorCode.INVALID_REQUEST,
                        "there is no fault " + name,
                        "choose one of " + Arrays.toString(PlantedFault.values()))
                    .exception());
  }

  public boolean has(PlantedFault fault) {
    return planted.contains(fault);
  }
}
