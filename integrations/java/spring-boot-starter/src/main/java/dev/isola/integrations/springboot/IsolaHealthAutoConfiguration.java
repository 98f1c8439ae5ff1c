package dev.isola.integrations.springboot;

import dev.isola.client.Isola;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.context.annotation.Bean;

/** Adds the health of the server to that of the application, if Spring Boot's health is there. */
@AutoConfiguration(after = IsolaAutoConfiguration.class)
@ConditionalOnClass(ConditionalOnEnabledHealthIndicator.class)
@ConditionalOnSingleCandidate(Isola.class)
public class IsolaHealthAutoConfiguration {
  // Here, not at the class: its condition is a class that may be missing.
  @Bean
  @ConditionalOnEnabledHealthIndicator("isola")
  @ConditionalOnMissingBean(name = "isolaHealthIndicator")
  IsolaHealthIndicator isolaHealthIndicator(Isola isola) {
    return new IsolaHealthIndicator(isola);
  }
}
