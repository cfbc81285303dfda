/** Messages and services of gRPC itself, in the notation of the platform's own: errors, HTTP rules, health, reflection. */

export const GRPC_MESSAGES = `
package google.api google/api/http.proto
message Http
  1 rules []HttpRule
  2 fully_decode_reserved_expansion bool
message HttpRule
  1 selector string
  2 get string in pattern
  3 put string in pattern
  4 post string in pattern
  5 delete string in pattern
  6 patch string in pattern
  8 custom CustomHttpPattern in pattern
  7 body string
  11 additional_bindings []HttpRule
  12 response_body string
message CustomHttpPattern
  1 kind string
  2 path string
package google.rpc google/rpc/status.proto
message Status
  1 code int32
  2 message string
  3 details []any
package google.rpc google/rpc/error_details.proto
message ErrorInfo
  1 reason string
  2 domain string
  3 metadata map<string,string>
message BadRequest
  1 field_violations []BadRequest.FieldViolation
message BadRequest.FieldViolation
  1 field string
  2 description string
  3 reason string
  4 localized_message LocalizedMessage
message LocalizedMessage
  1 locale string
  2 message string
message PreconditionFailure
  1 violations []PreconditionFailure.Violation
message PreconditionFailure.Violation
  1 type string
  2 subject string
  3 description string
message ResourceInfo
  1 resource_type string
  2 resource_name string
  3 owner string
  4 description string
package grpc.health.v1 grpc/health/v1/health.proto
message HealthCheckRequest
  1 service string
message HealthCheckResponse
  1 status enum HealthCheckResponse.ServingStatus
enum HealthCheckResponse.ServingStatus
  UNKNOWN 0
  SERVING 1
  NOT_SERVING 2
  SERVICE_UNKNOWN 3
service Health
  Check HealthCheckRequest HealthCheckResponse
  Watch HealthCheckRequest stream:HealthCheckResponse
package grpc.reflection.v1 grpc/reflection/v1/reflection.proto
message ServerReflectionRequest
  1 host string
  3 file_by_filename string in message_request
  4 file_containing_symbol string in message_request
  5 file_containing_extension ExtensionRequest in message_request
  6 all_extension_numbers_of_type string in message_request
  7 list_services string in message_request
message ExtensionRequest
  1 containing_type string
  2 extension_number int32
message ServerReflectionResponse
  1 valid_host string
  2 original_request ServerReflectionRequest
  4 file_descriptor_response FileDescriptorResponse in message_response
  5 all_extension_numbers_response ExtensionNumberResponse in message_response
  6 list_services_response ListServiceResponse in message_response
  7 error_response ErrorResponse in message_response
message FileDescriptorResponse
  1 file_descriptor_proto []bytes
message ExtensionNumberResponse
  1 base_type_name string
  2 extension_number []int32
message ListServiceResponse
  1 service []ServiceResponse
message ServiceResponse
  1 name string
message ErrorResponse
  1 error_code int32
  2 error_message string
service ServerReflection
  ServerReflectionInfo stream:ServerReflectionRequest stream:ServerReflectionResponse
`;
